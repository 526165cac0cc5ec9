"""Links are kept until they are written, and sent again to the successor of a dead shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.frames import MAX_PAYLOAD, FrameType
from larbinpy.links.sender import LinkSender
from tests.channels import carry, pair

if TYPE_CHECKING:
    from larbinpy.frames import Channel


def received(sender: LinkSender, shard: Channel) -> list[tuple[int, int, bytes]]:
    """What the shard gets: seq, number of groups, payload."""
    assert sender.channel
    got = carry(sender.channel, shard)
    assert {frame.type for frame in got} <= {FrameType.LINKS}
    return [(frame.seq, frame.count, frame.payload) for frame in got]


def test_groups_share_a_frame() -> None:
    """One frame with their number; its seq is what must be written."""
    with pair() as (ours, shard):
        sender = LinkSender()
        sender.join(ours)
        assert sender.send([b"one", b"two"]) == 1
        assert sender.send([b"three"]) == 2
        assert received(sender, shard) == [(1, 2, b"onetwo"), (2, 1, b"three")]


def test_nothing_makes_no_frame() -> None:
    """The seq stays, so nothing is waited for that was not sent."""
    sender = LinkSender()
    assert sender.send([]) == 0
    sender.send([b"x"])
    assert sender.send([]) == 1
    assert len(sender) == 1


def test_groups_that_do_not_fit_one_frame_make_more() -> None:
    """A frame may be full to the last byte, and no fuller; the last seq covers all."""
    half = MAX_PAYLOAD // 2
    with pair() as (ours, shard):
        sender = LinkSender()
        sender.join(ours)
        assert sender.send([b"a" * half, b"b" * half, b"c", b"d" * half, b"e" * half]) == 3
        sizes = [(seq, count, len(payload)) for seq, count, payload in received(sender, shard)]
    assert sizes == [(1, 2, MAX_PAYLOAD), (2, 2, half + 1), (3, 1, half)]


def test_answers_are_cumulative() -> None:
    """An answer frees every frame up to its seq; late and repeated ones change nothing."""
    sender = LinkSender()
    for number in range(1, 5):
        sender.send([bytes(number)])
    assert (len(sender), sender.unanswered_bytes, sender.written) == (4, 10, 0)
    sender.answered(3)
    assert (len(sender), sender.unanswered_bytes, sender.written) == (1, 4, 3)
    sender.answered(2)
    sender.answered(3)
    assert (len(sender), sender.unanswered_bytes, sender.written) == (1, 4, 3)
    sender.answered(4)
    assert (len(sender), sender.unanswered_bytes, sender.written) == (0, 0, 4)


def test_what_is_sent_before_the_shard_joins_waits() -> None:
    """A parser may read pages of one shard while another is not there."""
    sender = LinkSender()
    sender.send([b"early"])
    with pair() as (ours, shard):
        sender.join(ours)
        assert received(sender, shard) == [(1, 1, b"early")]


def test_a_successor_gets_the_unanswered_frames_under_their_old_numbers() -> None:
    """What the dead shard has answered is not sent again; new frames go on behind."""
    with pair() as (ours, shard):
        sender = LinkSender()
        sender.join(ours)
        for name in (b"one", b"two", b"three"):
            sender.send([name])
        received(sender, shard)
        sender.answered(1)
        sender.leave()
        assert ours.fileno() == -1
        sender.send([b"four"])
        assert (len(sender), sender.channel) == (3, None)
    with pair() as (ours, successor):
        sender.join(ours)
        sender.send([b"five"])
        assert received(sender, successor) == [
            (2, 1, b"two"),
            (3, 1, b"three"),
            (4, 1, b"four"),
            (5, 1, b"five"),
        ]


def test_leaving_twice_is_harmless() -> None:
    """A shard may be told gone by its socket and by the supervisor."""
    sender = LinkSender()
    sender.leave()
    sender.leave()
    assert sender.channel is None
