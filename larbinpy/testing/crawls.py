"""Write the configuration of a crawl of the synthetic web, and find the command that runs it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from larbinpy.testing.tlsweb import TlsWeb
    from larbinpy.testing.web import WebProcess


def crawl_keys(web: WebProcess | TlsWeb, directory: Path) -> dict[str, str]:
    """Keys and values that a crawl of this web needs; the value of a flag is empty."""
    return {
        "From": "operator@web.test",
        "UserAgent": "larbin",
        "stateDir": _quoted(directory / "crawl"),
        "outputDir": _quoted(directory / "save"),
        "hostsFile": _quoted(web.hosts_file),
        "seedFile": _quoted(web.seeds_file),
        "allowPrivateAddresses": "",
        "waitDuration": "0",
        "maxTries": "1",
        "depthInSite": "1000",
        "getCGI": "",
        "outputMode": "0",
    }


def _quoted(path: Path) -> str:
    return f'"{path.absolute()}"'


def write_config(path: Path, keys: Mapping[str, str], *, title: str) -> None:
    """Write an ordinary configuration file: one key a line."""
    lines = [f"# {title}", *(f"{key} {value}".rstrip() for key, value in keys.items())]
    path.write_text("\n".join(lines) + "\n")


def crawl_command(config: Path, *more: str) -> list[str]:
    """The command of a fresh crawl: the one installed beside this Python, else the module."""
    installed = shutil.which("larbinpy", path=str(Path(sys.executable).parent))
    program = [installed] if installed else [sys.executable, "-m", "larbinpy"]
    return [*program, "-c", str(config), "--scratch", *more]
