"""Outputs: what becomes of a page that was fetched and read.

In: ``Page`` and the decoded body.  Out: files, and one line in ``crawl.log``.
Remembers: the open directory of the output, nothing of the crawl.
Invariant: a page is stored before its log line is written, and its log line before its DONE.
Process: parser.
"""
