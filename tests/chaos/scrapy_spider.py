"""A Scrapy crawl of the synthetic web with JOBDIR: what ``scrapy_kills`` kills.

python scrapy_spider.py SEEDS HOSTS JOBDIR
"""

import sys
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer
from twisted.internet.error import DNSLookupError

ADDRESSES = {
    name: address
    for address, name in map(str.split, Path(sys.argv[2]).read_text(encoding="ascii").splitlines())
}
CONNECTIONS = 20
"""As many as those of the larbinpy crawls that are killed."""


class HostsResolver(CachingThreadedResolver):
    """Knows the names of the web; no other has an address."""

    def getHostByName(self, name, timeout=()):
        if name.replace(".", "").isdigit():
            return defer.succeed(name)
        if name in ADDRESSES:
            return defer.succeed(ADDRESSES[name])
        return defer.fail(DNSLookupError(f"no address for {name}"))


class Everything(scrapy.Spider):
    """Follows every link."""

    name = "everything"

    async def start(self):
        for line in Path(sys.argv[1]).read_text(encoding="ascii").splitlines():
            yield scrapy.Request(line)

    def parse(self, response):
        if isinstance(response, scrapy.http.HtmlResponse):
            for href in response.css("a::attr(href)").getall():
                url = response.urljoin(href)
                if url.startswith(("http://", "https://")):
                    yield scrapy.Request(url)


process = CrawlerProcess(
    {
        "JOBDIR": sys.argv[3],
        "DNS_RESOLVER": HostsResolver,
        "USER_AGENT": "larbin",
        "ROBOTSTXT_OBEY": True,
        "ROBOTSTXT_USER_AGENT": "larbin",
        "CONCURRENT_REQUESTS": CONNECTIONS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }
)
process.crawl(Everything)
process.start()
