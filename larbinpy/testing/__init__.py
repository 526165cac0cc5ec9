"""Fakes of the edges, shipped for tests, benchmarks and the demonstration.

``web`` is a synthetic web on loopback that knows what a crawl of it must fetch; ``barecurl`` is the
plain pycurl loop that the crawler's speed is compared with.
Nothing here is used by a crawl.
"""
