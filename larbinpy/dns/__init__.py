"""From host names to addresses, without ever blocking.

In: hosts whose address is unknown or has expired.
Out: one ``Answer`` per host asked for: addresses with an expiry, or why there are none.
Remembers: answers and failures until they expire, bounded.
Invariant: at most one lookup per name is under way, and each ends within ``LOOKUP_S``,
unless no name server says anything: then it ends when one does.
Process: the shard.

``addresses`` keeps hosts supplied: ``lookups`` are the names that are asked for, ``rights`` which
addresses may be used, ``book`` what is known of each host.
``resolver`` asks name servers, or ``behind`` nobody, where a proxy does: ``aresresults`` is what
they say, ``silence`` that none says anything.
``names`` is what needs no server, ``cache`` what was answered before, ``named`` the hosts of the
operator.
"""
