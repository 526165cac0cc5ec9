"""From the links of a page to what is sent to the shards.

In: resolved links of one page (``docs/protocol.md`` 6).
Out: link entries for each shard (``docs/protocol.md`` 4.2), and how many were refused, and why.
Remembers: the registered domains of hosts, and fingerprints that shards have answered "written";
both may be forgotten at any time.
Invariant: links found = accepted + duplicates + filtered.
Process: parsers and the seeder.
"""
