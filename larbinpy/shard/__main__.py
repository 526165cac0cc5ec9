"""The fetch process: ``python -m larbinpy.shard``, started by the supervisor."""

from larbinpy import child
from larbinpy.shard.loop import Shard

if __name__ == "__main__":
    child.main(Shard)
