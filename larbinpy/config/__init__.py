"""The configuration: larbin's file format, one schema, one frozen ``Config``.

In: a file, ``LARBINPY_KEY`` variables, ``--set KEY=VALUE``, URLs of the command line.
Out: a ``Config`` with every key, and warnings; or a ``ConfigError`` that says where it is wrong.
Remembers nothing: nobody reads the configuration globally, each stage gets the numbers it needs.
Invariants: ``loads(dump(config)).config == config``, ``from_json(to_json(config)) == config``.
Process: read by the supervisor, handed to its children as plain data.

The way of a key: ``schema`` (what there is) - ``grammar`` (words of the file) - ``values`` (what a
word means) - ``load`` (which of several settings counts) - ``check`` (do they fit) - ``dump``.
"""

from larbinpy.config.check import check
from larbinpy.config.dump import dump, from_json, to_json
from larbinpy.config.keys import Key
from larbinpy.config.load import Loaded, load, loads
from larbinpy.config.machine import Processes, processes
from larbinpy.config.schema import ATTRIBUTES, KEYS, Config

__all__ = [
    "ATTRIBUTES",
    "KEYS",
    "Config",
    "Key",
    "Loaded",
    "Processes",
    "check",
    "dump",
    "from_json",
    "load",
    "loads",
    "processes",
    "to_json",
]
