"""``larbinpy robots URL``: explains what the robots.txt of a URL's host says of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from larbinpy import wiring
from larbinpy.cli.contact import check_urls
from larbinpy.cli.robots import verdict_line
from larbinpy.cli.robots_txt import Found, RobotsAsker
from larbinpy.errors import ConfigError
from larbinpy.politeness.robots import agent_of, line_of, sitemaps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from larbinpy.config import Config
    from larbinpy.politeness.robots import Rules
    from larbinpy.url import Url

SHOWN_CHARS: Final = 200
SHOWN_SITEMAPS: Final = 20


def explain(texts: Iterable[bytes], config: Config, token: bytes) -> None:
    """Print the verdict of each URL, and below it what it is by.

    Raises:
        ConfigError: a text is no URL, or nobody could reach the operator.
    """
    parse = wiring.url_parser(config)
    found: dict[tuple[bytes, int, bool], Found] = {}
    with RobotsAsker(config, token, _say) as asker:
        for text in texts:
            url = parse(text)
            if url is None:
                raise ConfigError(_fault(os.fsdecode(text)))
            check_urls(config, [url.url])
            origin = (url.host, url.port, url.https)
            if origin not in found:
                found[origin] = asker.ask(url)
            _print(url, found[origin], config, token)


def _print(url: Url, found: Found, config: Config, token: bytes) -> None:
    rules = found.rules
    path = url.url[url.url.index(b"/", 8) :]
    is_allowed, number = rules.match(path) if rules else (False, 0)
    lines = [
        f"robots.txt: {_shown(found.url)} ({_answer(found)})",
        *(_about_line(found.text, number, token) if rules and found.text else ()),
        *(_about_delay(rules, config) if rules else ()),
        *_about_sitemaps(found.text),
        *(["ignoreRobots: a crawl would not ask"] if config.ignore_robots else ()),
    ]
    sys.stdout.buffer.write(verdict_line(url.url, number, is_allowed=is_allowed))
    sys.stdout.buffer.write("".join(f"  {line}\n" for line in lines).encode())
    sys.stdout.buffer.flush()


def _answer(found: Found) -> str:
    """Status, size, and what follows from them."""
    parts = [f"status {found.status}" if found.status else "no answer"]
    if found.reason:
        parts.append(_shown(found.reason.encode()))
    if found.rules is None:
        parts.append("nothing may be asked until it can be read")
    elif not found.text:
        parts.append("no rules")
    else:
        parts.append(f"{len(found.text):,} bytes")
    return ", ".join(parts)


def _about_line(text: bytes, number: int, token: bytes) -> Iterator[str]:
    """The line that decides, and whom its group names."""
    if number:
        yield f"line {number}: {_shown(line_of(text, number))}"
    agent = agent_of(text, token)
    yield f"User-agent: {_shown(agent)}" if agent else "no group is for us"


def _about_delay(rules: Rules, config: Config) -> Iterator[str]:
    if rules.crawl_delay_s is not None:
        yield f"Crawl-delay: {rules.crawl_delay_s:g}{_effect(rules.crawl_delay_s, config)}"


def _about_sitemaps(text: bytes) -> Iterator[str]:
    sitemaps = sitemaps_of(text)
    for sitemap in sitemaps[:SHOWN_SITEMAPS]:
        yield f"Sitemap: {_shown(sitemap)}"
    if len(sitemaps) > SHOWN_SITEMAPS:
        yield f"and {len(sitemaps) - SHOWN_SITEMAPS:,} more sitemaps"


def _effect(delay_s: float, config: Config) -> str:
    if delay_s > config.max_crawl_delay_s:
        return f", shortened to {config.max_crawl_delay_s:g} (maxCrawlDelay)"
    if delay_s < config.wait_duration_s:
        return f", but we wait {config.wait_duration_s:g} (waitDuration)"
    return ""


def _shown(text: bytes) -> str:
    """Bytes of the web in one line that does nothing to a terminal."""
    chars = text.decode("utf-8", "backslashreplace")[: SHOWN_CHARS + 1]
    plain = [c if c.isprintable() else c.encode("unicode_escape").decode() for c in chars]
    return "".join(plain[:SHOWN_CHARS]) + ("..." if len(chars) > SHOWN_CHARS else "")


def _fault(text: str) -> str:
    if text.startswith("/"):
        return f"{text!r} is not a URL: a path needs --file FILE"
    return f"{text!r} is not an http or https URL"


def _say(text: str) -> None:
    print(f"larbinpy: {text}", file=sys.stderr, flush=True)
