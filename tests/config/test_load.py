"""Which of several settings counts, and files that cannot be read."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from larbinpy.config import Config, load
from larbinpy.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that sets a few keys."""
    path = tmp_path / "larbin.conf"
    path.write_text("waitDuration 3\nstartUrl http://a/\nlimitToDomain .a end\ngetCGI\n")
    return path


def fault(*args: object, **kwargs: object) -> str:
    """The message of the error that loading ends with."""
    with pytest.raises(ConfigError) as error:
        load(*args, **kwargs)  # type: ignore[arg-type]  # what the tests give is right
    return str(error.value)


def test_nothing_set_is_the_default() -> None:
    """And there is nothing to warn of."""
    loaded = load(None)
    assert (loaded.config, loaded.warnings) == (Config(), [])


def test_command_line_over_environment_over_file(file: Path) -> None:
    """Over the default."""
    environ = {"LARBINPY_WAITDURATION": "2", "LARBINPY_DEPTHINSITE": "7", "PATH": "/bin"}
    assert load(file).config.wait_duration_s == 3.0
    assert load(file, (), environ).config.wait_duration_s == 2.0
    config = load(file, ["waitDuration=1"], environ).config
    assert (config.wait_duration_s, config.depth_in_site, config.max_redirects) == (1.0, 7, 10)


def test_set_replaces_lists_too(file: Path) -> None:
    """The last one counts; end may be left out; an empty value empties the list."""
    replaced = load(file, ["limitToDomain=.x", "LimitToDomain=.b .c end", "startUrl="]).config
    assert (replaced.limit_to_domain, replaced.start_urls) == ((b".b", b".c"), ())
    pairs = load(None, ['specificSet="a b" .x c/d .y end end']).config.specific_set
    assert pairs == ((b"a b", b".x"), (b"c/d", b".y"))


def test_the_environment_replaces_lists(file: Path) -> None:
    """In the file's syntax."""
    environ = {"LARBINPY_LIMITTODOMAIN": ".b .c end", "LARBINPY_STARTURL": "http://b/ http://c/"}
    config = load(file, (), environ).config
    assert config.limit_to_domain == (b".b", b".c")
    assert config.start_urls == (b"http://b/", b"http://c/")


def test_urls_are_added_to_the_seeds(file: Path) -> None:
    """Whatever set the others."""
    urls = [b"http://x/", b"https://y/#z"]
    assert load(file, urls=urls).config.start_urls == (b"http://a/", *urls)
    assert load(file, ["startUrl=http://b/"], urls=urls).config.start_urls == (b"http://b/", *urls)
    assert fault(None, urls=[b"ftp://x/"]) == (
        "URL: 'ftp://x/' is not a URL that begins with http:// or https://"
    )


def test_a_flag_is_set_by_its_name_or_yes_or_no(file: Path) -> None:
    """An empty value is neither."""
    assert (
        load(file, ["getImage", "getCGI=no"]).config
        == load(file, ["getImage=yes", "getCGI=NO"]).config
    )
    assert fault(file, ["getCGI="]) == "--set: getCGI: '' is not yes or no"


def test_a_single_value_is_the_whole_text() -> None:
    """Blanks and hashes need no quotes, but may have them."""
    assert load(None, ["UserAgent=my bot/1 #2"]).config.user_agent == "my bot/1 #2"
    assert load(None, ['UserAgent = "my bot"']).config.user_agent == "my bot"
    assert load(None, ["seedFile=-"]).config.seed_file == Path("-")
    assert load(None, ["seedFile=x", "seedFile="]).config.seed_file is None


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("waitDuration=x", "--set: waitDuration: 'x' is not a duration"),
        ("waitDuration", "--set: waitDuration: a value is missing (KEY=VALUE)"),
        ("waitDuratio=3", "--set: waitDuratio: unknown key, did you mean waitDuration?"),
        ('limitToDomain=".a', '--set: limitToDomain:1: the string ".a has no closing quote'),
        ("specificSet=a", "--set: specificSet: a has no extension beside it"),
        ("proxy=www", "--set: proxy: 'www' is not 2 words"),
        ("stayAlive", "--set: stayAlive: not in this version"),
    ],
)
def test_errors_of_set_name_the_key(override: str, message: str) -> None:
    """They begin with --set."""
    assert fault(None, [override]).startswith(message)


def test_errors_of_the_environment_name_the_variable() -> None:
    """It is the place and the key at once."""
    environ = {"LARBINPY_WAITDURATION": "x"}
    assert fault(None, (), environ).startswith("LARBINPY_WAITDURATION: 'x' is not a duration")


def test_a_misspelt_variable_is_a_warning() -> None:
    """Others with our prefix may be somebody else's."""
    environ = {"LARBINPY_WAITDURATON": "1", "LARBINPY_SHARED": "/x"}
    assert load(None, (), environ).warnings == [
        "LARBINPY_WAITDURATON: unknown, did you mean LARBINPY_WAITDURATION?"
    ]


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """Missing, a directory, not a text."""
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x7fELF\0\0")
    assert fault(tmp_path / "none") == f"{tmp_path}/none: cannot be read: No such file or directory"
    assert fault(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    assert fault(binary) == f"{binary}: is not a text file (it holds NUL bytes)"


def test_files_of_other_times_are_read(tmp_path: Path) -> None:
    """Latin-1 comments, CR LF, a byte order mark, a path that is not UTF-8."""
    path = tmp_path / "old.conf"
    path.write_bytes(b"\xef\xbb\xbfgetCGI # \xe9t\xe9\r\noutputDir caf\xe9\r\n")
    config = load(path).config
    assert (config.get_cgi, bytes(config.output_dir)) == (True, b"caf\xe9")


def test_connections_left_at_the_default_fit_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of the user's own beyond the limit is an error."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 264))
    assert load(None, ["fetchProcesses=2"]).config.pages_connexions == 400
    assert load(None, ["fetchProcesses=2", "pagesConnexions=400"]).config.pages_connexions == 400
    assert fault(None, ["fetchProcesses=2", "pagesConnexions=401"]) == (
        "--set: pagesConnexions: 401 is more than the 400 that the limit of open files allows;"
        " raise it (ulimit -Hn) or lower the key"
    )
