from collections.abc import Callable
from typing import final

from larbinpy._native.linkfilter import LinkFilter
from larbinpy._native.pages import Page, ParsedPage, Reading
from larbinpy._native.shared import Blame
from larbinpy.codes import Directive

@final
class PlainPages:
    def __init__(
        self,
        links: LinkFilter,
        *,
        type_of: Callable[[bytes], bytes | None],
        digest: Callable[[bytes | memoryview], bytes],
        directives_of: Callable[[bytes], Directive],
        is_new: Callable[[bytes, int], bool] | None,
        max_bytes: int,
        equal: int,
        agent: bytes,
        nofollow: bool,
        near: Callable[[Page, ParsedPage, bytes], bool] | None = None,
        compares_all: bool = False,
    ) -> None: ...
    def read_run(
        self, pages: list[Page], readings: list[Reading], slot: Blame, keeps: bool
    ) -> bool: ...
    def read(self, page: Page) -> Reading | None: ...
