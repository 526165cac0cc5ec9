"""What was seen before: URLs, in each shard, and pages, over all parsers.

In: batches of links with their fingerprints (``seen``); digests of pages (``content``).
Out: for each whether it is new.
Remembers: all of it, for the whole crawl. The durable copies are the log's: fingerprints and
digests lie in it and in its seen files, and are loaded from there at the start (``restore``). Only
``bits`` has a file of its own.
Invariant: what was added is never again new; ``exact`` never takes a new URL for a seen one.
Process: ``seen`` belongs to one shard alone; ``content`` is shared memory that all parsers write.

``seen`` has the kinds of seen sets behind the interface in ``base``; ``bloom`` and ``bitsfile`` are
their files, ``larbinbits`` continues a larbin's table.
"""
