"""The seeder process: reads the start URLs and sends them to their shards, then ends.

It is a process of its own because seeds may be many: it reads only as fast as the shards write.
While it lives the crawl cannot end, for it may still bring URLs.
"""

from __future__ import annotations

import itertools
import select
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy import child, entries, wiring
from larbinpy import url as urls
from larbinpy.errors import ConfigError, FormatError
from larbinpy.frames import Channel, FrameType
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link
from larbinpy.links.scope import place_of
from larbinpy.links.sender import LinkSender
from larbinpy.seeds import sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.children import Control
    from larbinpy.seeds.sources import Seed
    from larbinpy.wiring import Start

BATCH_SEEDS: Final = 500
FRAMES_AHEAD: Final = 4
REPORTED_LINES: Final = 20
_NO_BASE: Final = b"http://seed.invalid/"
"""Seeds are absolute; nothing resolves against it."""


@dataclass(slots=True)
class Count:
    """What became of the seeds."""

    lines: int = 0
    bad: int = 0
    users: int = 0
    """URLs with a user or a password."""


class Seeder:
    """The loop of the seeder process."""

    def __init__(self, control: Control, start: Start, _memory_fd: int) -> None:
        self._control = control
        self._start = start
        self._config = start.config
        self._senders = {shard: LinkSender() for shard in range(start.shards)}
        self._parse = wiring.url_parser(start.config)
        self._base = wiring.base_maker(start.config)(_NO_BASE)
        self._links = wiring.make_links(start)
        self._count = Count()
        self._may_send = False

    def run(self) -> None:
        """Send all seeds, wait until they are written, tell what became of them."""
        while not all(sender.channel for sender in self._senders.values()):
            self._turn()
        seeds = self._sources()
        if self._config.is_bound_to_seeds:
            seeds = self._announce_sites(list(seeds))
        size = min(BATCH_SEEDS, self._config.links_per_page)
        while batch := list(itertools.islice(seeds, size)):
            self._send(batch)
            self._flush()
            self._wait_for(FRAMES_AHEAD - 1)
        self._wait_for(0)
        count = self._count
        self._control.tell("seeds", lines=count.lines, bad=count.bad, users=count.users)

    def _sources(self) -> Iterator[Seed]:
        given = sources.given(self._config.start_urls)
        if self._config.seed_file is None:
            return given
        return itertools.chain(given, sources.from_file(self._config.seed_file))

    def _announce_sites(self, seeds: list[Seed]) -> Iterator[Seed]:
        """Parsers must know the places of all seeds before the first page comes."""
        places = wiring.read_sites(self._start.state)
        parsed = (self._parse(seed.text) for seed in seeds)
        places.update(place_of(url) for url in parsed if url)
        if not places and not seeds:
            raise ConfigError(
                "scope, lockSite: the state knows no first URL that links could be near to; give"
                " them again"
            )
        wiring.write_sites(self._start.state, places)
        self._links = wiring.make_links(self._start)
        self._control.tell("sites")
        while not self._may_send:
            self._turn()
        return iter(seeds)

    # --- sending ---------------------------------------------------------------------------

    def _send(self, seeds: list[Seed]) -> None:
        """Parse, filter and send a batch."""
        self._count.lines += len(seeds)
        good = [seed.text for seed in seeds if self._is_url(seed)]
        found = b"".join(found_link(ELEMENT_SEED, text) for text in good)
        resolved = urls.resolve(self._base, found)
        batch = self._links.run(resolved, host=b"", depth=0, left=0, flags=LINK_SEED)
        for shard, links in enumerate(batch.entries):
            if links:
                groups = entries.link_groups(b"", b"", links, batch.counts[shard])
                self._senders[shard].send(groups)

    def _is_url(self, seed: Seed) -> bool:
        """Whether a seed parses; a bad one is reported, the first few by their place."""
        if self._parse(seed.text) is not None:
            self._look_for_user(seed)
            return True
        self._count.bad += 1
        if self._count.bad <= REPORTED_LINES:
            text = f"{seed.place}: not an http or https URL: {seed.shown}"
            self._control.tell("notice", text=text)
        return False

    def _look_for_user(self, seed: Seed) -> None:
        """Say what becomes of the first user and password in a URL, and count them."""
        url = urls.parse(seed.text) if seed.has_user else None
        if url is None:
            return
        self._count.users += 1
        if self._count.users == 1:
            origin = b"/".join(url.url.split(b"/", 3)[:3]).decode("ascii")
            instead = f"set auth {origin} USER:PASSWORD instead"
            text = f"user and password in URLs of {origin} are not sent; {instead}"
            self._control.tell("notice", text=f"{seed.place}: {text}")

    # --- waiting ---------------------------------------------------------------------------

    def _wait_for(self, frames: int) -> None:
        """Go on when no shard has more than so many frames unanswered."""
        while any(len(sender) > frames for sender in self._senders.values()):
            self._turn()

    def _turn(self) -> None:
        """Wait for a socket, and do what it wants."""
        self._flush()
        poll = select.poll()
        poll.register(self._control.channel, select.POLLIN)
        for sender in self._senders.values():
            if sender.channel:
                wants_out = select.POLLOUT if sender.channel.pending_bytes else 0
                poll.register(sender.channel, select.POLLIN | wants_out)
        poll.poll(0 if self._control.is_heard else None)
        self._hear_control()
        for sender in self._senders.values():
            _receive(sender)

    def _flush(self) -> None:
        """Send what the sockets take: the next seed may be long in coming."""
        for sender in self._senders.values():
            if sender.channel:
                sender.channel.flush()

    def _hear_control(self) -> None:
        for message, descriptors in self._control.messages():
            match message["verb"]:
                case "peer":
                    sender = self._senders[message["index"]]
                    sender.leave()
                    sender.join(Channel(socket.socket(fileno=descriptors[0])))
                case "go":
                    self._may_send = True


def _receive(sender: LinkSender) -> None:
    if sender.channel is None:
        return
    for frame in sender.channel.receive():
        if frame.type != FrameType.WRITTEN:
            raise FormatError(f"a shard sent the seeder a frame of type {frame.type}")
        sender.answered(frame.seq)
    if sender.channel.is_closed:
        sender.leave()


if __name__ == "__main__":
    child.main(Seeder)
