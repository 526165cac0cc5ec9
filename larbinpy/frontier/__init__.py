"""The life of a URL in a shard: new, waiting, ready, in flight, parsing, done.

In: LINKS payloads of parsers and seeder, DONE entries. Out: URLs to fetch, counters.
Remembered: the URL log and the seen files of its shard's directory, nothing else.
Invariant: a URL waits exactly when its ENQ or MOVE record is in the log and no DONE names its id.
ENQ only adds work and DONE only removes it: in doubt a DONE is ignored and a page fetched again.
Process: one shard; a lock on the directory keeps all others out.

``frontier`` puts the parts of a shard's queue together: seen test, log, chains and schedule;
``retries`` are URLs between two tries, ``apart`` those that are asked for alone, ``backlog`` is
what the log is told while the disk refuses.
``log`` is the queue itself (``PersistentFifo``): ``tail`` its end, ``shelf`` its sealed segments,
``segment`` and ``writer`` one file of it, ``seenfile`` what a sealed one leaves for ever,
``payloads`` the small records, ``disk`` the rim.
``recovery`` opens what any exit left: ``inventory`` finds the files, ``replay`` applies records,
``seencheck`` mends the seen files, ``quarantine`` keeps what is damaged, ``recovered`` is the
result.
``durability`` says what must be on the medium, and ``syncer`` brings it there; ``moving`` and
``deletion`` are how old segments end.
The bytes are described in ``docs/format-queue.md`` and ``docs/format-seen.md``.
"""
