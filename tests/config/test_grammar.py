"""larbin's grammar: tokens, quotes, comments, flags, lists."""

from __future__ import annotations

import pytest

from larbinpy.config import Config, loads
from larbinpy.config.grammar import tokenize
from larbinpy.errors import ConfigError

STOCK_2_6_3 = """\
# larbin configuration file
From larbin2.6.3@unspecified.mail
UserAgent larbin_2.6.3
httpPort 8081
#inputPort 1976
pagesConnexions 100
dnsConnexions 5
depthInSite 5
#noExternalLinks
waitDuration 60
#proxy www 8080
startUrl http://slashdot.org/
#limitToDomain .fr .dk .uk end
forbiddenExtensions
.tar .gz .tgz .zip .Z .rpm .deb
.ps .dvi .pdf
end
"""

FORK_2_6_5 = """\
From user@example.com
UserAgent larbin_2.6.5
outputMode 1
httpPort 8081
inputPort 1976
printStats
pagesConnexions 250
dnsConnexions 10
lockSite
depthInSite 5
bondWidth 0
limitTime 2
limitPage 100
useCookies
startUrl http://www.example.com/
startUrl http://www.example.fr/
specificSet
"application/pdf" .pdf
"application/msword" .doc
end end
limitToDomain .fr .dk .uk end
forbiddenExtensions .tar end
"""


def config(text: str) -> Config:
    """The configuration of a text."""
    return loads(text, "f").config


def fault(text: str) -> str:
    """The message of the error that a text is."""
    with pytest.raises(ConfigError) as error:
        loads(text, "f")
    return str(error.value)


def test_tokens_are_words_strings_and_comments() -> None:
    """A hash in quotes is literal, elsewhere it begins a comment; quotes keep blanks."""
    tokens = tokenize('a"b  "c # d"#x\r\n\t""e\x0bf # "', "f")
    assert [(token.text, token.line) for token in tokens] == [
        ('a"b', 1),
        ("c # d", 1),
        ("", 2),
        ("e", 2),
        ("f", 2),
    ]


def test_a_stock_file_of_2_6_3_is_read() -> None:
    """As it is; what does not work yet is a warning."""
    loaded = loads(STOCK_2_6_3, "larbin.conf")
    assert loaded.config == Config(
        from_address="larbin2.6.3@unspecified.mail",
        user_agent="larbin_2.6.3",
        http_port=8081,
        pages_connexions=100,
        dns_connexions=5,
        depth_in_site=5,
        wait_duration_s=60.0,
        start_urls=(b"http://slashdot.org/",),
        forbidden_extensions=tuple(b".tar .gz .tgz .zip .Z .rpm .deb .ps .dvi .pdf".split()),
    )
    assert loaded.warnings == [
        "larbin.conf:4: httpPort: not in this version: there are no status pages; see report.json"
        " in stateDir"
    ]
    assert loaded.config.user_agent_token == b"larbin_"


def test_a_stock_file_of_2_6_5_is_read() -> None:
    """A specificSet without specificSearch and seeds outside limitToDomain are warnings."""
    loaded = loads(FORK_2_6_5, "f")
    assert loaded.config.limit_time_s == 120.0
    assert loaded.config.specific_set == (
        (b"application/pdf", b".pdf"),
        (b"application/msword", b".doc"),
    )
    assert loaded.warnings == [
        "f:5: inputPort: not in this version: no port is opened; give URLs with seedFile",
        "f:4: httpPort: not in this version: there are no status pages; see report.json in"
        " stateDir",
        "f:17: specificSet: only gives priority, since specificSearch is not set",
        "f:15: startUrl: http://www.example.com/ is outside limitToDomain;"
        " it is fetched all the same",
    ]


def test_a_warning_of_a_first_url_has_no_password() -> None:
    """Of none that the user wrote into it."""
    loaded = loads("startUrl http://me:secret@a.test/x limitToDomain .b end", "f")
    (warning,) = loaded.warnings
    assert "startUrl: http://a.test/x is outside limitToDomain" in warning


def test_keywords_ignore_case() -> None:
    """Also end, yes and no."""
    assert config("GETCGI YES limittodomain .FR End GETIMAGE No") == Config(
        get_cgi=True, limit_to_domain=(b".fr",)
    )


def test_a_flag_may_be_followed_by_yes_or_no() -> None:
    """Alone it means yes; what else follows is the next keyword."""
    assert config("getCGI getImage yes anyType no depthInSite 3") == Config(
        get_cgi=True, get_image=True, depth_in_site=3
    )


def test_seeds_and_lists_add_up() -> None:
    """In the order of the file."""
    text = "startUrl http://a/ limitToDomain .a end startUrl http://b/ limitToDomain .b end"
    text += " specificSet X/Y .z end end specificSet end end"
    assert config(text) == Config(
        start_urls=(b"http://a/", b"http://b/"),
        limit_to_domain=(b".a", b".b"),
        specific_set=((b"x/y", b".z"),),
    )


def test_older_names_are_known() -> None:
    """``maxBandwidth`` is ``bondWidth``, in bytes per second."""
    assert config("maxBandwidth 1000").bond_width_bytes_per_s == 1000
    assert fault("bondWidth 1\nmaxBandwidth 1") == (
        "f:2: bondWidth: is set twice, first in f:1: bondWidth"
    )


def test_a_proxy_is_two_words_or_a_url() -> None:
    """A host and a port, or everything in one word."""
    assert config("proxy www 8080 getCGI") == Config(proxy="www 8080", get_cgi=True)
    url = "socks5://user:p%40ss@www:8080"
    assert config(f"proxy {url} getCGI") == Config(proxy=url, get_cgi=True)


def test_keys_of_an_origin_add_up() -> None:
    """An origin has a port, and its value may have blanks."""
    text = 'auth http://A/ u:p header https://a:8 "X: y z" header http://a "Accept-Language: fr"'
    assert config(text) == Config(
        auth=((b"http://a:80", b"u:p"),),
        header=((b"https://a:8", b"X: y z"), (b"http://a:80", b"Accept-Language: fr")),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nwaitDuratoin 3", "f:2: waitDuratoin: unknown key, did you mean waitDuration?"),
        ("qqq 3", "f:1: qqq: unknown key"),
        ("getCGI\ngetCGI", "f:2: getCGI: is set twice, first in f:1: getCGI"),
        ("depthInSite x", "f:1: depthInSite: 'x' is not a whole number from 0 to 65535"),
        ("depthInSite -1", "f:1: depthInSite: must be a whole number from 0 to 65535"),
        ("\ndepthInSite", "f:2: depthInSite: a value is missing: the file ends"),
        ("UserAgent\ngetCGI", "f:1: UserAgent: a value is missing: getCGI begins line 2"),
        ("limitToDomain .a", "f:1: limitToDomain: end is missing: the file ends"),
        (
            "limitToDomain .a\nforbiddenExtensions .x end",
            "f:1: limitToDomain: end is missing: forbiddenExtensions begins line 2",
        ),
        ("specificSet a/b .x end", "f:1: specificSet: the list must end with: end end"),
        ("specificSet a/b end end", "f:1: specificSet: a/b has no extension beside it"),
        ('\nFrom "me', 'f:2: the string "me has no closing quote'),
        ("startUrl example.com", "f:1: startUrl: 'example.com' is not a URL that begins with"
         " http:// or https://"),
        ('limitToDomain "" end', "f:1: limitToDomain: an empty string is of no use here"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_key(text: str, message: str) -> None:
    """And say what is wrong."""
    assert fault(text) == message
