"""The life of a URL in a shard: new, waiting, ready, in flight, parsing, done.

In: LINKS payloads of parsers and seeder, DONE entries. Out: URLs to fetch, counters.
Remembered: the URL log and the seen files of its shard's directory, nothing else.
Invariant: a URL waits exactly when its ENQ or MOVE record is in the log and no DONE names its id.
ENQ only adds work and DONE only removes it: in doubt a DONE is ignored and a page fetched again.
Process: one shard; a lock on the directory keeps all others out.

``log`` is the queue itself (``PersistentFifo``); ``segment`` one file of it, ``seenfile`` the
fingerprints of a sealed one, ``recovery`` what any exit left behind, ``quarantine`` what was found
damaged, ``reader`` the log from end to end, ``payloads`` the small records, ``disk`` the rim.
The bytes are described in ``docs/format-queue.md`` and ``docs/format-seen.md``.
"""
