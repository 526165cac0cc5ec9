"""``python -m larbinpy``."""

import sys

from larbinpy.cli import main

if __name__ == "__main__":
    sys.exit(main())
