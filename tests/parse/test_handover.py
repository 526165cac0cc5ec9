"""Pages are held until a parser has answered, and whatever happens to parsers, none is lost."""

from __future__ import annotations

import mmap
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy import entries
from larbinpy._native.bodymemory import BodyMemory
from larbinpy.frames import MAX_PAYLOAD, FrameType
from larbinpy.parse.handover import MAX_CRASHES, PARSER_BYTES, Handover
from larbinpy.records import ID_WITHOUT_ENQ, Outcome, Page
from tests.channels import carry, pair
from tests.descriptors import open_descriptors
from tests.processes import in_own_process
from tests.records import result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.frames import Channel, Frame

EPOCH = 5


class Parsers:
    """Parsers that a handover has, as far as they are sockets."""

    def __init__(self, handover: Handover, stack: ExitStack) -> None:
        self._handover = handover
        self._stack = stack
        self._ends: dict[int, tuple[Channel, Channel]] = {}

    def join(self, index: int) -> None:
        self._ends[index] = self._stack.enter_context(pair())
        self._handover.join(index, self._ends[index][0])

    def frames(self, index: int) -> list[Frame]:
        """What a parser has been sent."""
        self._handover.flush()
        return carry(*self._ends[index])

    def pages(self, index: int) -> list[Page]:
        found = []
        for frame in self.frames(index):
            found += pages_of(frame)
        return found

    def ids(self, index: int) -> list[int]:
        return [page.id for page in self.pages(index)]


def pages_of(frame: Frame, memory: bytes | memoryview = b"") -> list[Page]:
    """The pages of a frame, with their bodies."""
    assert frame.type == FrameType.PAGE
    pages = entries.decode_pages(frame.payload, frame.count, memory)
    for page, fd in zip(pages, frame.descriptors, strict=False):
        page.body = os.pread(fd, os.fstat(fd).st_size, 0)
        os.close(fd)
    return pages


@pytest.fixture
def handover(tmp_path: Path) -> Handover:
    return Handover(tmp_path, EPOCH)


@pytest.fixture
def parsers(handover: Handover) -> Iterator[Parsers]:
    with ExitStack() as stack:
        yield Parsers(handover, stack)


def test_a_page_is_held_until_it_is_answered(handover: Handover, parsers: Parsers) -> None:
    """Sending does not free it; the answer does, once, and gives its job back."""
    parsers.join(0)
    given = result(7, b"body")
    handover.give(given)
    (page,) = parsers.pages(0)
    assert (page.id, page.epoch, page.attempt, page.body) == (7, EPOCH, 0, b"body")
    assert (7 in handover, len(handover), handover.pages) == (True, 1, 1)
    assert handover.answered(7) is given.job
    assert (7 in handover, len(handover), handover.pages, handover.nbytes) == (False, 0, 0, 0)
    assert handover.answered(7) is None


def test_bytes_are_those_of_what_is_held(handover: Handover, parsers: Parsers) -> None:
    """Bodies, headers and something for each page; all given back."""
    parsers.join(0)
    given = [result(number, bytes(number * 1000)) for number in range(20)]
    for one in given:
        handover.give(one)
    bare = sum(len(one.body) + len(one.headers) for one in given)
    assert bare < handover.nbytes < bare + 20 * 1000
    parsers.pages(0)
    for number in range(20):
        handover.answered(number)
    assert handover.nbytes == 0


def test_requests_for_robots_are_not_counted_as_pages(handover: Handover) -> None:
    """``pages`` is a term of the identity: only what was accepted counts."""
    handover.give(result(1))
    handover.give(result(ID_WITHOUT_ENQ | 1))
    assert (len(handover), handover.pages) == (2, 1)
    handover.answered(ID_WITHOUT_ENQ | 1)
    assert (len(handover), handover.pages) == (1, 1)


def test_pages_wait_for_a_parser(handover: Handover, parsers: Parsers) -> None:
    """Without one nothing is sent, and nothing lost; order is kept."""
    for number in range(5):
        handover.give(result(number))
    handover.flush()
    parsers.join(3)
    assert parsers.ids(3) == [0, 1, 2, 3, 4]


def test_small_pages_share_frames(handover: Handover, parsers: Parsers) -> None:
    """A frame goes out at 64 KiB, and what is left at the end of the turn."""
    parsers.join(0)
    for number in range(100):
        handover.give(result(number, bytes(2000)))
    sizes = [len(frame.payload) for frame in parsers.frames(0)]
    assert len(sizes) == 4
    assert all(1 << 16 <= size < (1 << 16) + 2200 for size in sizes[:-1])


def test_the_least_loaded_parser_gets_the_page(handover: Handover, parsers: Parsers) -> None:
    """By bytes unanswered, not by number."""
    parsers.join(0)
    parsers.join(1)
    for number, size in enumerate((50_000, 100, 100, 100)):
        handover.give(result(number, bytes(size)))
    assert (parsers.ids(0), parsers.ids(1)) == ([0], [1, 2, 3])
    handover.answered(0)
    handover.give(result(9))
    assert (parsers.ids(0), parsers.ids(1)) == ([9], [])


def test_a_parser_has_at_most_8_mib_unanswered(handover: Handover, parsers: Parsers) -> None:
    """The rest waits, and goes on when there are answers."""
    parsers.join(0)
    size = PARSER_BYTES // 4
    for number in range(6):
        handover.give(result(number, bytes(size)))
    assert parsers.ids(0) == [0, 1, 2, 3]
    handover.answered(0)
    assert parsers.ids(0) == [4]
    handover.answered(1)
    handover.answered(2)
    assert parsers.ids(0) == [5]
    for number in range(6):
        handover.answered(number)
    assert handover.nbytes == 0


@pytest.mark.parametrize("size", [800_000, 917_000, MAX_PAYLOAD, 3 << 20])
def test_bodies_of_any_size_arrive(handover: Handover, parsers: Parsers, size: int) -> None:
    """Those that fit no frame travel as descriptors of files that have no name."""
    parsers.join(0)
    body = os.urandom(size)
    before = open_descriptors()
    for number in (1, 2, 3):
        handover.give(result(number, body if number == 2 else b"small"))
    assert [page.body == body for page in parsers.pages(0)] == [False, True, False]
    for number in (1, 2, 3):
        handover.answered(number)
    assert open_descriptors() <= before


def test_no_file_is_left(handover: Handover, parsers: Parsers, tmp_path: Path) -> None:
    """Large bodies leave no names behind, even when the shard is killed."""
    parsers.join(0)
    handover.give(result(1, bytes(2 << 20)))
    assert list(tmp_path.iterdir()) == []
    parsers.pages(0)
    handover.answered(1)


def test_a_full_disk_keeps_large_bodies_in_memory(tmp_path: Path) -> None:
    """A body that cannot be put aside is not dropped."""
    handover = Handover(tmp_path / "missing", EPOCH)
    with ExitStack() as stack:
        parsers = Parsers(handover, stack)
        parsers.join(0)
        handover.give(result(1, bytes(2 << 20)))
        (frame,) = parsers.frames(0)
        (fd,) = frame.descriptors
        assert os.pread(fd, 3 << 20, 0) == bytes(2 << 20)
        os.close(fd)
        handover.answered(1)


# --- parsers that die --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 2 << 20])
def test_a_dead_parsers_pages_are_sent_again(
    handover: Handover, parsers: Parsers, size: int
) -> None:
    """To another parser, with their attempt counted up; answered ones are not."""
    parsers.join(0)
    body = os.urandom(size)
    for number in range(3):
        handover.give(result(number, body))
    parsers.pages(0)
    handover.answered(1)
    handover.leave(0)
    parsers.join(1)
    again = parsers.pages(1)
    assert [(page.id, page.attempt, page.body == body) for page in again] == [
        (0, 1, True),
        (2, 1, True),
    ]
    handover.leave(1)
    parsers.join(2)
    assert [(page.id, page.attempt) for page in parsers.pages(2)] == [(0, 2), (2, 2)]
    for number in (0, 2):
        handover.answered(number)
    assert handover.nbytes == 0


def test_only_the_dead_parsers_pages_are_sent_again(handover: Handover, parsers: Parsers) -> None:
    """Those of the others stay where they are."""
    parsers.join(0)
    parsers.join(1)
    for number in range(4):
        handover.give(result(number))
    kept, lost = parsers.ids(0), parsers.ids(1)
    handover.leave(1)
    assert parsers.ids(0) == lost
    assert sorted(kept + lost) == [0, 1, 2, 3]


def test_a_parser_whose_socket_has_ended_gets_nothing(handover: Handover, parsers: Parsers) -> None:
    """Even before the shard has been told that it is gone."""
    parsers.join(0)
    parsers.join(1)
    parsers._ends[0][0].is_closed = True
    for number in range(3):
        handover.give(result(number))
    assert parsers.ids(1) == [0, 1, 2]


def test_the_load_of_a_successor_begins_at_nothing(handover: Handover, parsers: Parsers) -> None:
    """What was sent to the dead one is not charged to the new one twice."""
    parsers.join(0)
    for number in range(3):
        handover.give(result(number, bytes(PARSER_BYTES // 4)))
    parsers.pages(0)
    handover.leave(0)
    parsers.join(0)
    handover.give(result(3, bytes(PARSER_BYTES // 4)))
    assert parsers.ids(0) == [0, 1, 2, 3]


def test_attempts_end_at_255(handover: Handover, parsers: Parsers) -> None:
    """The field has one byte."""
    handover.give(result(1))
    for index in range(300):
        parsers.join(index)
        assert parsers.pages(index)[0].attempt == min(index, 255)
        handover.leave(index)


def test_a_page_with_three_crashes_is_poison(handover: Handover, parsers: Parsers) -> None:
    """It is sent on unread, so it ends; the pages beside it are not charged."""
    handover.give(result(1))
    handover.give(result(2))
    for crash in range(MAX_CRASHES):
        parsers.join(crash)
        assert [page.outcome for page in parsers.pages(crash)] == [Outcome.SUCCESS] * 2
        handover.charge(1)
        handover.leave(crash)
    parsers.join(9)
    assert [page.outcome for page in parsers.pages(9)] == [Outcome.POISON, Outcome.SUCCESS]


def test_charging_a_page_that_is_answered_is_harmless(handover: Handover) -> None:
    """The blame may come after the answer."""
    handover.charge(1)
    assert len(handover) == 0


# --- bodies that parsers see ---------------------------------------------------------------------


def test_a_body_that_parsers_see_is_not_sent(tmp_path: Path) -> None:
    """They are told where it lies, however large it is; small ones travel as ever."""
    in_own_process(check_told, str(tmp_path))


def check_told(directory: str) -> None:
    memory = BodyMemory(16 << 20)
    handover = Handover(Path(directory), EPOCH, memory)
    bodies = [os.urandom(size) for size in (0, 100, 7600, 300_000, 3 << 20)]
    with ExitStack() as stack:
        parsers = Parsers(handover, stack)
        parsers.join(0)
        for number, body in enumerate(bodies):
            handover.give(result(number, body))
        first, *rest = parsers.frames(0)
        assert (first.type, len(first.descriptors)) == (FrameType.MEMORY, 1)
        assert sum(len(frame.payload) for frame in rest) < 2000
        assert [frame.descriptors for frame in rest] == [[]] * len(rest)
        (shared,) = first.descriptors
        view = memoryview(mmap.mmap(shared, 0, prot=mmap.PROT_READ))
        pages = [page for frame in rest for page in pages_of(frame, view)]
        assert [bytes(page.body) for page in pages] == bodies
        seen = [memoryview(page.body).obj is view.obj for page in pages]
        assert seen == [False, False, True, True, True]


def test_a_body_that_finds_no_room_there_is_sent(tmp_path: Path) -> None:
    """In a frame, or as a file when it fits none."""
    in_own_process(check_no_room, str(tmp_path))


def check_no_room(directory: str) -> None:
    handover = Handover(Path(directory), EPOCH, BodyMemory(1 << 16))
    bodies = [os.urandom(size) for size in (300_000, 3 << 20)]
    with ExitStack() as stack:
        parsers = Parsers(handover, stack)
        parsers.join(0)
        for number, body in enumerate(bodies):
            handover.give(result(number, body))
        _, inline, in_file = parsers.frames(0)
        assert (len(inline.payload) > 300_000, len(in_file.descriptors)) == (True, 1)
        assert [
            bytes(page.body) for frame in (inline, in_file) for page in pages_of(frame)
        ] == bodies


def test_a_body_stays_while_a_parser_that_was_cut_off_may_read_it(tmp_path: Path) -> None:
    """Until it has a successor, whatever others answer meanwhile."""
    in_own_process(check_pinned, str(tmp_path))


def check_pinned(directory: str) -> None:
    memory = BodyMemory(16 << 20)
    handover = Handover(Path(directory), EPOCH, memory)
    handover.give(result(1, os.urandom(7600)))
    place = memory.offset_of(os.urandom(7600)) - 8192  # the block before
    with ExitStack() as stack:
        parsers = Parsers(handover, stack)
        parsers.join(0)
        parsers.frames(0)
        handover.leave(0)
        parsers.join(1)
        parsers.frames(1)
        handover.answered(1)
        assert place not in [memory.offset_of(os.urandom(7600)) for _ in range(9)]
        parsers.join(0)
        assert memory.offset_of(os.urandom(7600)) == place
