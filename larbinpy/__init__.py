"""larbinpy: a web crawler for large crawls on Linux servers."""

__version__ = "0.1.0"
