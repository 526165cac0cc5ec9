"""The first URLs of a crawl: from the configuration, the command line, and files.

In: lines of text.  Out: URLs with the place they stood at.
Remembers: nothing; the seen test of the shards drops what was given before.
Invariant: a bad line is reported with its number and costs only itself.
Process: seeder, which ends when all seeds are in the logs of their shards.
"""
