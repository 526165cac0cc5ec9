"""Build the compiled hot path: every ``ext/NAME.pyx`` becomes ``larbinpy._native.NAME``.

Nothing else is decided here; metadata, dependencies and tools stand in ``pyproject.toml``.
``EXT_DEBUG=1`` builds with all checks on and without optimisation.
"""

import os
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

EXTENSIONS = [
    Extension(
        f"larbinpy._native.{source.stem}",
        [str(source)],
        include_dirs=["ext"],
        depends=[str(header) for header in sorted(Path("ext").glob("*.h"))],
        extra_compile_args=FLAGS,
    )
    for source in sorted(Path("ext").glob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        EXTENSIONS,
        build_dir="build",
        include_path=["ext"],
        compiler_directives=DIRECTIVES,
    )
)
