"""How URLs are read, and which are taken for one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy.url import Base, Equal, LarbinBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.config import Config
    from larbinpy.url import Url


def url_parser(config: Config) -> Callable[[bytes], Url | None]:
    """How a seed is parsed."""
    return urls.parse_larbin if config.url_mode == "larbin" else urls.parse


def base_maker(config: Config) -> Callable[[bytes], Base | LarbinBase]:
    """What links resolve against."""
    if config.url_mode == "larbin":
        return LarbinBase
    return partial(Base, equal=equal_urls(config))


def equal_urls(config: Config) -> Equal:
    """Which URLs are taken for one; it is asked for links, seeds and redirections alike."""
    options = {
        Equal.SORT_QUERY: config.sort_query,
        Equal.DROP_SESSIONS: config.drop_session_ids,
        Equal.DROP_TRACKING: config.drop_tracking,
        Equal.SLASH: config.ignore_trailing_slash,
        Equal.INDEX: config.ignore_index,
    }
    return Equal(sum(option for option, is_on in options.items() if is_on))
