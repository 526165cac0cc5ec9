"""A shard, the fetch process: the composition root of all stages up to the parsers.

In: links and answers of parsers, seeds, control messages of the supervisor.
Out: pages for the parsers, records of the log, counters in shared memory.
It remembers everything of its registered domains; nothing of it is shared with another shard.

``loop`` is its turn; ``inbox`` (with ``answers``), ``requests`` and ``results`` are the three ways
in it, ``rules`` what robots.txt files say, ``flow`` what they share.
``manners`` decides about requests in vain, by ``troubles`` of hosts and ``ownline``; ``suspects``,
``errands`` and ``scope`` know the URLs that go another way.
``parts`` opens everything: ``queue``, ``network``, ``options``, ``peers``, ``ledger``.
"""
