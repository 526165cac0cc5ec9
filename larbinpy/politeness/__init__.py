"""Who may be asked for what, and when.

In: robots.txt files and verdicts asked for; results of requests.  Out: verdicts; delays.
Remembers: the rules of every origin, for a day at most; hosts in trouble.
Invariant: no URL of an origin is asked for before its rules are known.
Process: shard.

``gate`` gives the verdicts, by rules that ``robots`` reads.  ``trouble`` is what a result says of
its host, ``backoff`` how long that is left alone; ``outage`` knows when it is our own line that is
down, ``bandwidth`` what that line may carry.
"""
