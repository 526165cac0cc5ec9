"""Functions of the operator's own modules, which the configuration names ``module:function``.

A module is a file ``module.py``, or a package ``module/__init__.py``, in ``pluginPath`` and nowhere
else: ``sys.path`` is not asked, so no installed package and no file of the current directory can
take its place. It is known under a name of its own, so it hides no other module either.
"""

from __future__ import annotations

import re
import sys
from importlib import util
from typing import TYPE_CHECKING, Final

from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):([A-Za-z_][A-Za-z0-9_]*)")
_PREFIX: Final = "larbinpy_plugin_"


def find_module(name: str, directory: Path) -> Path:
    """Give the file of the module of ``module:function``; nothing of it is run.

    Raises:
        ConfigError: it is not there.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise ConfigError(f"{name!r} is not module:function")
    file, package = directory / f"{match[1]}.py", directory / match[1] / "__init__.py"
    for path in (file, package):
        if path.is_file():
            return path
    raise ConfigError(f"{name}: neither {file} nor {package} is there")


def load_function(name: str, directory: Path) -> Callable[..., object]:
    """Run a module and give its function.

    Raises:
        ConfigError: there is no such module or function, or the module cannot be run.
    """
    path = find_module(name, directory)
    module_name, _, function_name = name.partition(":")
    spec = util.spec_from_file_location(_PREFIX + module_name, path)
    assert spec is not None  # a file that ends in .py always has one
    assert spec.loader is not None
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{name}: {path} cannot be run: {error!r}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise ConfigError(f"{name}: {path} has no function {function_name}")
    return function  # type: ignore[no-any-return]  # callable says no more than that
