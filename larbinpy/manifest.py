"""The MANIFEST of a state: what may not change while the state lives.

The crawl's uuid (the key of all fingerprints), the number of shards, the kind of seen set, the URL
mode, and the digest of the public suffix list that decided whose URL is whose.  A checksum tells a
damaged one.
"""

from __future__ import annotations

import json
import uuid
import zlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from larbinpy.errors import ConfigError, FormatError

if TYPE_CHECKING:
    from larbinpy.config import Config

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a state was begun with; ``fetch_processes`` and the rest are part of its layout."""

    uuid: str
    fetch_processes: int
    seen_set: str
    url_mode: str
    suffix_list: str
    """SHA-256 of the state's copy of the public suffix list."""
    boot_id: str = ""
    clean: bool = False
    """True when the last run ended by an orderly stop."""
    version: int = VERSION

    @classmethod
    def new(cls, *, fetch_processes: int, seen_set: str, url_mode: str, suffix_list: str) -> Self:
        """A manifest of a new crawl."""
        return cls(
            uuid.uuid4().hex, fetch_processes, seen_set, url_mode, suffix_list, boot_id=boot_id()
        )

    def opened(self) -> Self:
        """The manifest while a crawl runs whose logs are all open."""
        return replace(self, boot_id=boot_id(), clean=False)

    @property
    def is_trusted(self) -> bool:
        """Whether all that was written is there: the last run was stopped, or only killed.

        When not, the logs put in doubt what was not synced.  The boot id may be replaced only
        after all of them have noted that.
        """
        return self.clean or self.boot_id == boot_id()

    def as_bytes(self) -> bytes:
        """The content of the file."""
        body = json.dumps(asdict(self), indent=1).encode()
        return body + b"\n%08x\n" % zlib.crc32(body)

    @property
    def key(self) -> bytes:
        """The 16 bytes that key the crawl's hashes."""
        return bytes.fromhex(self.uuid)


def boot_id() -> str:
    """Identity of this start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def parse_manifest(data: bytes, path: Path) -> Manifest:
    """Read the bytes of a MANIFEST.

    Raises:
        FormatError: they are damaged, or of a newer version.
    """
    body, _, tail = data.rstrip(b"\n").rpartition(b"\n")
    if tail != b"%08x" % zlib.crc32(body):
        raise FormatError(
            f"{path}: damaged; restore it from a copy, or start afresh with --scratch"
        )
    fields = json.loads(body)
    if fields["version"] > VERSION:
        raise FormatError(f"{path}: written by a newer larbinpy (version {fields['version']})")
    return Manifest(**fields)


def check_manifest(manifest: Manifest, config: Config) -> None:
    """Refuse a configuration that does not fit the state.

    Raises:
        ConfigError: it asks for something that is part of the state.
    """
    fetch_processes = config.fetch_processes
    if fetch_processes not in (0, manifest.fetch_processes):
        raise ConfigError(
            f"fetchProcesses: the state has {manifest.fetch_processes} shards, not"
            f" {fetch_processes}; leave the key out, or change the state by:"
            f" larbinpy state DIR --reshard {fetch_processes}"
        )
    if config.url_mode != manifest.url_mode:
        raise ConfigError(f"urlMode: the state was begun with {manifest.url_mode}")
    if config.seen_set != manifest.seen_set and "bits" in (config.seen_set, manifest.seen_set):
        raise ConfigError(
            f"seenSet: the state was begun with {manifest.seen_set}, and bits are made of the URLs"
            " themselves, not of their fingerprints; neither can become the other"
        )
