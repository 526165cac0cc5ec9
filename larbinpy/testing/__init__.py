"""What tests and measurements need instead of the web: shipped, and public.

``web`` is a seeded endless web behind a compiled server, ``dns`` a scripted name server,
``servers`` runs one of the ``scripts`` for each connection, ``hostile`` has those that mean no good
(``behaviours``, made of ``attacks``), ``barecurl`` is a fetch loop of libcurl alone, ``crawls``
runs the crawl command.
Everything listens on loopback, on a free port, and ends by itself.
``clock``, ``resolver`` and ``fetcher`` stand in for the three edges of a shard and touch nothing.
"""
