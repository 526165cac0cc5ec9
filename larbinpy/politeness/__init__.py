"""Who may be asked for what, and when.

In: robots.txt files and verdicts asked for.  Out: verdicts.
Remembers: the rules of every origin, for a day at most.
Invariant: no URL of an origin is asked for before its rules are known.
Process: shard.
"""
