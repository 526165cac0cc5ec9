"""From host names to addresses, without ever blocking.

In: hosts whose address is unknown or has expired.
Out: one ``Answer`` per host asked for: addresses with an expiry, or why there are none.
Remembers: answers and failures until they expire, bounded.
Invariant: at most one lookup per name is under way, and each ends within ``LOOKUP_S``.
Process: the shard.
"""
