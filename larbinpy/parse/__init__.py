"""From the body of an answer to the links found in it.

What comes in: header block and body as received, and the Content-Type.
What goes out: the decoded body, its encoding, a buffer of ``found_link`` items
(``docs/protocol.md``, section 6), and what the page says about itself.
What it remembers: nothing; every function is pure.
Invariant: nothing that the web can send raises out of here, time and memory are linear in what was
received and bounded by the limits given.
Process: the parsers.
"""
