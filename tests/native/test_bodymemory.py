"""Bodies lie in memory that others see, and what finds no room there loses nothing but speed."""

from __future__ import annotations

import mmap
import os
import random
import resource
from itertools import pairwise

import pytest

from larbinpy._native.bodymemory import BodyMemory
from larbinpy.testing.scripts import answer, response
from larbinpy.testing.servers import Server
from tests.fetch.conftest import Client
from tests.processes import in_own_process

MIB = 1 << 20


def seen(memory: BodyMemory, body: bytes) -> bytes | None:
    """The bytes of a body as others see them; None when they do not."""
    at = memory.offset_of(body)
    return None if at < 0 else os.pread(memory.fd, len(body), at)


def taken(memory: BodyMemory) -> int:
    """Bytes that the system has given."""
    return os.fstat(memory.fd).st_blocks * 512


def test_objects_of_its_size_lie_there() -> None:
    """From 2 KiB to 16 MiB, overhead of Python's included."""
    in_own_process(check_sizes)


def check_sizes() -> None:
    memory = BodyMemory(64 * MIB)
    for size in (2100, 7600, 16_384, 65_537, 900_000, MIB, 8 * MIB, 16 * MIB - 100):
        body = os.urandom(size)
        assert seen(memory, body) == body, size
    for size in (0, 1, 1900, 16 * MIB, 20 * MIB):
        assert seen(memory, os.urandom(size)) is None, size


@pytest.mark.parametrize("seed", range(3))
def test_objects_keep_their_bytes_whatever_happens_to_others(seed: int) -> None:
    """Many lives of bytes and of growing and shrinking buffers, in a memory that is too small."""
    in_own_process(check_lives, seed)


def check_lives(seed: int) -> None:
    draw = random.Random(seed)
    memory = BodyMemory(4 * MIB)
    alive: list[tuple[bytes | bytearray, bytes]] = []
    outside = 0
    for _ in range(6000):
        if len(alive) > draw.randrange(120):
            del alive[draw.randrange(len(alive))]
        piece = draw.randbytes(int(2 ** draw.uniform(0, 18)))
        if draw.random() < 0.3 and alive:
            change(draw, *alive[draw.randrange(len(alive))], piece, alive)
        else:
            alive.append((piece, piece[:]))
        outside += memory.offset_of(piece) < 0 and 4000 < len(piece)
        if draw.random() < 0.02:
            check_all(memory, alive)
    assert outside > 100, "the memory was never full"
    assert taken(memory) <= 4 * MIB


def change(
    draw: random.Random,
    body: bytes | bytearray,
    expected: bytes,
    piece: bytes,
    alive: list[tuple[bytes | bytearray, bytes]],
) -> None:
    """A buffer that has the bytes of another object, and then more or fewer."""
    buffer = bytearray(body)
    if draw.random() < 0.5:
        buffer += piece
        alive.append((buffer, expected + piece))
    else:
        cut = draw.randrange(len(buffer) + 1)
        del buffer[cut:]
        alive.append((buffer, expected[:cut]))


def check_all(memory: BodyMemory, alive: list[tuple[bytes | bytearray, bytes]]) -> None:
    places = []
    for body, expected in alive:
        assert body == expected
        if isinstance(body, bytes) and (at := memory.offset_of(body)) >= 0:
            assert os.pread(memory.fd, len(body), at) == expected
            places.append((at, at + len(body)))
    assert all(end <= start for (_, end), (start, _) in pairwise(sorted(set(places))))


def test_room_that_was_left_is_used_again() -> None:
    """One body after the other needs no more memory than one; the last one's room comes first."""
    in_own_process(check_reuse)


def check_reuse() -> None:
    memory = BodyMemory(64 * MIB)
    first = memory.offset_of(os.urandom(9000))
    for _ in range(20_000):
        assert memory.offset_of(os.urandom(9000)) == first
    assert taken(memory) <= MIB


def test_large_blocks_are_cut_up_again_when_nothing_else_is_left() -> None:
    """All of the memory serves small objects after large ones, and what is in use stays."""
    in_own_process(check_recut)


def check_recut() -> None:
    memory = BodyMemory(8 * MIB)
    large = [os.urandom(900_000) for _ in range(9)]
    assert [memory.offset_of(one) >= 0 for one in large] == [True] * 9
    kept, expected = large[4], bytes(bytearray(large[4]))
    del large
    small = [os.urandom(7600) for _ in range(1000)]
    inside = sum(seen(memory, one) == one for one in small)
    assert inside >= (8 * MIB - 2 * MIB) // 8192
    assert kept == expected
    assert seen(memory, os.urandom(100_000)) is None


def test_memory_that_the_system_refuses_is_not_touched() -> None:
    """What does not fit lies elsewhere; to touch it would be the end of the process."""
    in_own_process(check_refused)


def check_refused() -> None:
    memory = BodyMemory(64 * MIB)
    kept = [os.urandom(100_000) for _ in range(5)]
    assert taken(memory) == MIB
    os.close(memory.fd)  # whatever is asked of it fails
    bodies = kept + [os.urandom(100_000) for _ in range(20)]
    inside = [memory.offset_of(body) >= 0 for body in bodies]
    assert inside == [True] * 9 + [False] * 16
    assert bodies[8] != bodies[9]


def test_nobody_else_writes_there() -> None:
    """Not who has the descriptor, in no way; reading is all that it is for."""
    in_own_process(check_sealed)


def check_sealed() -> None:
    memory = BodyMemory(MIB)
    body = os.urandom(7600)
    place = memory.offset_of(body)
    with pytest.raises(PermissionError):
        mmap.mmap(memory.fd, 0)
    with pytest.raises(PermissionError):
        os.pwrite(memory.fd, b"x", place)
    for size in (0, 2 * MIB):
        with pytest.raises(PermissionError):
            os.ftruncate(memory.fd, size)
    assert seen(memory, body) == body
    assert seen(memory, os.urandom(500_000)) is not None


def test_a_process_has_one() -> None:
    """The second is refused; so is one that the system has no descriptor for."""
    in_own_process(check_second)
    in_own_process(check_descriptors)


def check_second() -> None:
    BodyMemory(MIB)
    with pytest.raises(RuntimeError, match="one memory"):
        BodyMemory(MIB)


def check_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    with pytest.raises(OSError, match="open files"):
        BodyMemory(MIB)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


@pytest.mark.parametrize("size", [2500, 7600, 300_000])
def test_what_is_fetched_lies_there(size: int) -> None:
    """Also what comes in many pieces."""
    in_own_process(check_fetched, size)


def check_fetched(size: int) -> None:
    memory = BodyMemory(64 * MIB)
    page = os.urandom(size)
    client = Client()
    with Server(answer(response(page))) as server:
        result = client.get(server)
    assert result.body == page
    assert seen(memory, result.body) == page
    client.close()
