"""From the body of an answer to the links found in it.

What comes in: header block and body as received, and the Content-Type.
What goes out: the decoded body, its encoding, a buffer of ``found_link`` items
(``docs/protocol.md``, section 6), and what the page says about itself.
What it remembers: nothing; every function is pure, but for ``handover``.
Invariant: nothing that the web can send raises out of here, time and memory are linear in what was
received and bounded by the limits given.
Process: the parsers; ``handover``, in the shards, gives them the pages.

A page's way: ``page`` - ``decode`` - ``charset`` and ``html`` - ``directives`` and ``canonical`` -
``pagelinks``. Beside it: ``redirects``, ``robotspage``, ``lists`` (sitemaps, feeds, plain texts).
"""
