"""A parser process: pages in, links and log lines out.

It keeps nothing but its open outputs and a cache; it may die at any moment.
The way of a page here: read, store, send its links, wait until every shard has written them, write
its line in ``crawl.log``, answer PARSED.  Pages are taken in batches, and a batch waits as a whole;
other batches go on meanwhile.

``loop`` is its turn; ``reading`` and ``finishing`` are the two halves of a batch's way, ``shards``
the sockets between them, ``disk`` what is tried again when a disk refuses it.
"""
