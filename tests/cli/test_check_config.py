"""``larbinpy check-config [FILE]``: what is wrong, or what is in effect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from larbinpy.cli import main
from larbinpy.config import Config, dump, load

if TYPE_CHECKING:
    import pytest


def test_the_effective_configuration_is_printed_as_a_file(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment and --set included; it reads as the same configuration."""
    path = tmp_path / "a.conf"
    path.write_bytes(b"outputDir caf\xe9\nhttpPort 8081\nwaitDuration 60")
    monkeypatch.setenv("LARBINPY_DEPTHINSITE", "2")
    assert main(["check-config", "--set", "getCGI", str(path)]) == 0
    out, err = capfdbinary.readouterr()
    (tmp_path / "b.conf").write_bytes(out)
    config = load(path, ["getCGI", "depthInSite=2"]).config
    assert load(tmp_path / "b.conf").config == config
    assert err.startswith(b"larbinpy: warning: %s:2: httpPort: not in this version" % bytes(path))


def test_without_a_file_it_checks_what_a_crawl_would_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``larbin.conf`` here, else the built-in defaults."""
    monkeypatch.chdir(tmp_path)
    assert main(["check-config"]) == 0
    assert capsys.readouterr().out == dump(Config())
    Path("larbin.conf").write_text("getCGI")
    assert main(["check-config"]) == 0
    assert capsys.readouterr().out == dump(Config(get_cgi=True))


def test_what_is_wrong_is_one_line_and_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With file, line and key."""
    path = tmp_path / "a.conf"
    path.write_text("getCGI\nwaitDuration soon\n")
    assert main(["check-config", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"larbinpy: {path}:2: waitDuration: 'soon' is not a duration from 0s")
