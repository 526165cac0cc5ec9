"""Whether a state may be trusted: was its crawl only killed, or did the machine go down."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from larbinpy import state
from larbinpy.config import Config
from larbinpy.state import StateDirectory

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.manifest import Manifest


def leave(directory: StateDirectory, manifest: Manifest, **fields: object) -> Manifest:
    """A crawl ended and left this; returns what the next one begins with."""
    directory.save(replace(manifest, **fields))  # type: ignore[arg-type]
    return state.begin(directory, Config(), reload=False)


def test_only_a_fall_without_a_clean_stop_is_mistrusted(tmp_path: Path) -> None:
    """A new state, a kill and a clean stop are no reason."""
    directory = StateDirectory(tmp_path)
    manifest = state.begin(directory, Config(), reload=False)
    assert manifest.is_trusted
    assert leave(directory, manifest, clean=False).is_trusted
    assert leave(directory, manifest, clean=True, boot_id="another").is_trusted
    assert not leave(directory, manifest, clean=False, boot_id="another").is_trusted
    directory.close()


def test_the_boot_id_is_replaced_after_the_logs_are_open(tmp_path: Path) -> None:
    """A kill before that leaves the state mistrusted; afterwards it is not."""
    directory = StateDirectory(tmp_path)
    manifest = state.begin(directory, Config(), reload=False)
    fallen = leave(directory, manifest, clean=False, boot_id="another")
    saved = directory.load()
    assert saved is not None
    assert not saved.is_trusted
    assert leave(directory, fallen.opened()).is_trusted
    stopped = leave(directory, manifest, clean=True)
    saved = directory.load()
    assert (stopped.clean, saved and saved.clean) == (True, False)
    directory.close()
