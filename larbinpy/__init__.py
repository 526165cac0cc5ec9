"""larbinpy: a web crawler for large crawls on Linux servers.

The way of a URL, and the package that knows each step:

    seeds       first URLs
    frontier    the log of URLs, which is the queue
    dns         addresses of hosts
    politeness  who may be asked, and when
    fetch       one request, and what came of it
    parse       a page, and the links in it
    links       which of them are followed, and by which shard
    dedup       URLs and pages that were seen before
    store       the output and ``crawl.log``

``supervisor`` starts the processes: ``seeder``, ``shard`` (frontier to fetch), ``parser`` (parse to
store); ``wiring`` makes their parts from the configuration.  See ARCHITECTURE.md.
"""

__version__ = "0.1.0"
