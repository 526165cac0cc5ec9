"""What the supervisor holds together, made from the configuration; ``loop`` works with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from larbinpy.clock import Clock, SystemClock
from larbinpy.config import Config, processes, to_json
from larbinpy.shared import CrawlMemory, bytes_of_pages
from larbinpy.supervisor.crew import Crew
from larbinpy.supervisor.freedisk import FreeDisk
from larbinpy.supervisor.mending import Mender, names_of
from larbinpy.supervisor.observer import Observer
from larbinpy.supervisor.pauses import Pauses
from larbinpy.supervisor.reloading import Reload
from larbinpy.supervisor.stopping import Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.manifest import Manifest
    from larbinpy.state import StateDirectory


@dataclass(slots=True)
class SupervisorParts:
    """Everything the supervisor works with."""

    config: Config
    """As it is now; SIGHUP may bring another one."""
    manifest: Manifest
    """As it was saved last."""
    directory: StateDirectory
    clock: Clock
    memory: CrawlMemory
    crew: Crew
    observer: Observer
    mender: Mender
    pauses: Pauses
    stopping: Stop
    reload: Reload

    @classmethod
    def make(
        cls,
        config: Config,
        directory: StateDirectory,
        manifest: Manifest,
        *,
        clock: Clock | None = None,
        reread: Callable[[], Config] | None = None,
    ) -> SupervisorParts:
        """Make all parts; no process is started.

        Args:
            reread: reads the configuration again, for SIGHUP; None: it cannot be.
        """
        clock = clock or SystemClock()
        memory = _make_memory(config, manifest)
        crew = _make_crew(config, directory, manifest, memory)
        observer = Observer(config, directory.path, memory, clock)
        mender = Mender(
            crew,
            memory,
            clock,
            ip_wait_s=config.ip_wait_s,
            names=partial(names_of, directory.path, bytes.fromhex(manifest.uuid)),
            say=observer.say,
        )
        return cls(
            config=config,
            manifest=manifest,
            directory=directory,
            clock=clock,
            memory=memory,
            crew=crew,
            observer=observer,
            mender=mender,
            pauses=_make_pauses(config, directory),
            stopping=Stop(crew),
            reload=Reload(reread, observer.say),
        )


def _make_memory(config: Config, manifest: Manifest) -> CrawlMemory:
    return CrawlMemory.create(
        manifest.fetch_processes,
        processes(config).parse,
        page_bytes=bytes_of_pages(
            keeps_seen=config.page_no_duplicate, keeps_near=config.near_duplicates != "no"
        ),
    )


def _make_crew(
    config: Config, directory: StateDirectory, manifest: Manifest, memory: CrawlMemory
) -> Crew:
    shards, parsers = manifest.fetch_processes, processes(config).parse
    start: dict[str, Any] = {
        "config": to_json(config),
        "state": str(directory.path),
        "uuid": manifest.uuid,
        "shards": shards,
        "parsers": parsers,
        "is_trusted": manifest.is_trusted,
    }
    return Crew(shards=shards, parsers=parsers, start=start, descriptors=(memory.fd,))


def _make_pauses(config: Config, directory: StateDirectory) -> Pauses:
    """The disks that the crawl writes to are watched."""
    output = [config.output_dir.absolute()] if config.output_mode else []
    return Pauses(FreeDisk((directory.path, *output), config.min_free_disk_bytes))
