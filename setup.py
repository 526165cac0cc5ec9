"""Build the compiled hot path: every ``ext/NAME.pyx`` becomes ``larbinpy._native.NAME``.

Nothing else is decided here; metadata, dependencies and tools stand in ``pyproject.toml``.
``EXT_DEBUG=1`` builds with all checks on and without optimisation.
"""

import os
import re
from functools import cache
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("EXT_DEBUG") == "1"

DIRECTIVES = {
    "language_level": "3",
    "boundscheck": DEBUG,
    "wraparound": False,
    "cdivision": not DEBUG,
    "initializedcheck": DEBUG,
    "embedsignature": True,
}
FLAGS = ["-O0", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-fno-plt", "-Wno-unused-function"]

NAMED = re.compile(r'(?:#include|extern from) "(\w+\.h)"|^from (\w+) cimport', re.MULTILINE)


@cache
def headers(path: Path) -> frozenset[Path]:
    """The headers that a file names, itself or through others: what it is compiled again for."""
    found = set()
    for header, module in NAMED.findall(path.read_text()):
        named = path.with_name(header or f"{module}.pxd")
        if named.exists():
            found |= {named} if header else set()
            found |= headers(named)
    return frozenset(found)


EXTENSIONS = [
    Extension(
        f"larbinpy._native.{source.stem}",
        [str(source)],
        include_dirs=["ext"],
        depends=sorted(map(str, headers(source))),
        extra_compile_args=FLAGS,
    )
    for source in sorted(Path("ext").glob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        EXTENSIONS,
        build_dir="build",
        include_path=["ext", "."],
        compiler_directives=DIRECTIVES,
    )
)
