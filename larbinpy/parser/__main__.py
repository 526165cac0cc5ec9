"""The parser process: ``python -m larbinpy.parser``, started by the supervisor."""

from larbinpy import child
from larbinpy.parser.loop import Parser

if __name__ == "__main__":
    child.main(Parser)
