"""Outputs: what becomes of a page that was fetched and read.

In: ``Page`` and the decoded body.  Out: files, and one line in ``crawl.log``.
Remembers: what is being filled, and where the pages were stored that may come again (``stored/`` in
the state); see ``transaction``.
Invariant: a page is stored before its log line is written, and its log line before its DONE.
Process: parser.
"""
