"""The schema: every key of the configuration, once, in the order of the data's way.

It is one long table on purpose: a key is added here and described in ``larbin.conf``.
Keys that do not work yet are in it, so that their names and defaults do not drift (``later``).
"""
# ruff: noqa: RUF009 - the calls below are dataclass fields that carry a Key.

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, cast

from larbinpy.config import values
from larbinpy.config.keys import (
    NOT_YET,
    Key,
    Shape,
    by_origin,
    choice,
    directory,
    flag,
    key_field,
    optional_path,
    proxy_address,
    ratio,
    seconds,
    size,
    string,
    whole,
    word_list,
)

if TYPE_CHECKING:
    from pathlib import Path

ANY: Final = values.Word(is_ascii=False)
PATTERN: Final = values.Pattern()
HOST: Final = values.Word(is_lower=True)
PORT: Final = 65535
CALM: Final = 3650 * 86400.0
"""The longest duration a key takes: ten years."""
SEGMENT_LIMIT: Final = 2**32 - 1
"""A position has 32 bits for the offset (docs/format-queue.md)."""
DECODED_FACTOR: Final = 2.5
"""A body may grow so much while its content encoding is removed."""
TOKEN: Final = re.compile(r"[A-Za-z_-]+")


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be configured; durations are seconds, sizes are bytes."""

    # who we are
    from_address: str = string(
        "From", "larbin@unspecified.mail", "mail address of the operator", header=True
    )
    user_agent: str = string(
        "UserAgent", "larbin", "name sent with each request and looked for in robots.txt",
        header=True,
    )  # fmt: skip
    allow_anonymous: bool = flag("allowAnonymous", "crawl without a contact", since="0.1")

    # seeds
    start_urls: tuple[bytes, ...] = key_field(
        cast("tuple[bytes, ...]", ()),
        Key("startUrl", Shape.EACH, values.HttpUrl(), "a first URL"),
    )
    seed_file: Path | None = optional_path("seedFile", "file of first URLs, - = stdin", since="0.1")
    input_port: int = whole(
        "inputPort", 0, "TCP port that takes URLs while running, 0 = none", high=PORT,
        later={"*": "no port is opened; give URLs with seedFile"},
    )  # fmt: skip
    input_host: str = string(
        "inputHost", "127.0.0.1", "address of inputPort", since="0.1", later=NOT_YET
    )

    # limits and end
    limit_time_s: float = seconds(
        "limitTime", 0.0, "stop after so long, 0 = never", bare="m", high=CALM
    )
    limit_page: int = whole("limitPage", 0, "stop after so many pages, 0 = never")
    limit_size_bytes: int = size(
        "limitSize", 0, "stop after so many bytes read, 0 = never", since="0.1"
    )
    drain_time_s: float = seconds(
        "drainTime", 20.0, "how long a stop waits for pages in flight", since="0.1"
    )
    stay_alive: bool = flag(
        "stayAlive", "wait for new URLs instead of ending", since="0.1", later=NOT_YET
    )

    # processes
    fetch_processes: int = whole(
        "fetchProcesses", 0, "fetch processes, 0 = from the cores", high=256,
        group="performance", since="0.1",
    )  # fmt: skip
    parse_processes: int = whole(
        "parseProcesses", 0, "parse processes, 0 = from the cores", high=1024,
        group="performance", since="0.1",
    )  # fmt: skip
    body_memory_bytes: int = size(
        "bodyMemory", 256 << 20, "bound of all bodies held", low=1 << 20,
        group="performance", since="0.1",
    )  # fmt: skip

    # frontier: state and order
    state_dir: Path = directory("stateDir", "crawl", "directory of the state", since="0.1")
    durability: str = choice(
        "durability", ("process", "power", "off"), "what the log survives", since="0.1",
        group="performance",
    )  # fmt: skip
    sync_time_s: float = seconds(
        "syncTime", 1.0, "time between two fdatasync of the log", low=0.01, high=3600.0,
        group="performance", since="0.1",
    )  # fmt: skip
    segment_size_bytes: int = size(
        "segmentSize", 64 << 20, "size of a segment of the log", low=1 << 16, high=SEGMENT_LIMIT,
        group="performance", since="0.1",
    )  # fmt: skip
    min_free_disk_bytes: int = size(
        "minFreeDisk", 512 << 20, "pause when the disk has less left", since="0.1"
    )
    ram_urls: int = whole(
        "ramUrls", 100_000, "URLs in RAM, over all processes", low=1,
        group="performance", since="0.1",
    )  # fmt: skip
    urls_per_host: int = whole(
        "urlsPerHost", 64, "URLs of one host in RAM", low=1,
        group="performance", since="0.1", later=NOT_YET,
    )  # fmt: skip
    order: str = choice("order", ("bfs", "dfs", "best"), "order within a host", since="0.1")
    can_reload: bool = flag(
        "canReload", "keep what a later --reload needs",
        later={"*": "it has no effect: the state is always kept"},
    )  # fmt: skip

    # politeness
    wait_duration_s: float = seconds(
        "waitDuration", 1.0, "time between two requests to a host, start to start"
    )
    wait_duration_ip_s: float | None = key_field(
        cast("float | None", None),
        Key(
            "waitDurationIP", Shape.VALUE, values.Duration(high=86400.0, is_optional=True),
            "the same per address; unset = waitDuration", since="0.1",
        ),
    )  # fmt: skip
    ignore_robots: bool = flag("ignoreRobots", "do not ask robots.txt")
    max_crawl_delay_s: float = seconds(
        "maxCrawlDelay", 300.0, "longest Crawl-delay obeyed", since="0.1"
    )
    connections_per_ip: int = whole(
        "connectionsPerIp", 1, "requests at a time to one address", low=1, high=65535, since="0.1"
    )
    max_tries: int = whole(
        "maxTries", 3, "requests for one URL at most", low=1, high=255, since="0.1"
    )
    dead_host_retry_s: float = seconds(
        "deadHostRetry", 86400.0, "when a dead host is tried again", high=CALM, since="0.1"
    )

    # dns
    dns_connexions: int = whole(
        "dnsConnexions", 200, "parallel DNS calls", low=1, high=10_000, group="performance"
    )
    name_server: str = string(
        "nameServer", "", "ADDRESS or ADDRESS:PORT; unset = the system's", since="0.1"
    )
    hosts_file: Path | None = optional_path(
        "hostsFile", "addresses that go before DNS, as /etc/hosts", since="0.1"
    )
    allow_private_addresses: bool = flag(
        "allowPrivateAddresses", "crawl private and loopback addresses", since="0.1"
    )

    # fetch
    pages_connexions: int = whole(
        "pagesConnexions", 1000, "parallel connections, over all processes", low=1, high=1_000_000,
        group="performance",
    )  # fmt: skip
    connect_timeout_s: float = seconds(
        "connectTimeout", 10.0, "time to connect", low=0.01, since="0.1"
    )
    first_byte_timeout_s: float = seconds(
        "firstByteTimeout", 20.0, "time to the first byte", low=0.01, since="0.1"
    )
    stall_time_s: float = seconds("stallTime", 30.0, "time without a byte", low=0.01, since="0.1")
    fetch_timeout_s: float = seconds(
        "fetchTimeout", 120.0, "time for a whole request", low=0.01, since="0.1"
    )
    max_page_size_bytes: int = size(
        "maxPageSize", 8 << 20, "largest body as received", low=1 << 10, high=1 << 30, since="0.1"
    )
    max_redirects: int = whole("maxRedirects", 10, "redirections in a row", high=255, since="0.1")
    bond_width_bytes_per_s: int = size("bondWidth", 0, "bytes per second, 0 = no limit")
    proxy: str = proxy_address("proxy", "proxy of all requests: host and port, or a URL")
    use_cookies: bool = flag("useCookies", "keep and send cookies")
    auth: tuple[tuple[bytes, bytes], ...] = by_origin(
        "auth", values.Credentials(), "user and password of an origin", since="0.1"
    )
    header: tuple[tuple[bytes, bytes], ...] = by_origin(
        "header", values.HeaderLine(), "header sent to an origin", since="0.1"
    )
    http_version: str = choice("httpVersion", ("1.1", "2", "auto"), "version of HTTP", since="0.1")
    tls_verify: str = choice(
        "tlsVerify", ("yes", "record"), "what a bad certificate means", since="0.1"
    )
    tls_old: bool = flag("tlsOld", "also servers with TLS 1.0 or weak keys", since="0.1")
    ca_file: Path | None = optional_path(
        "caFile", "certificates (PEM) that vouch for servers, beside the usual ones", since="0.1"
    )

    # parse
    parser_memory_bytes: int = size(
        "parserMemory", 1 << 30, "memory of a parser", low=256 << 20, group="performance",
        since="0.1",
    )  # fmt: skip
    parser_deadline_s: float = seconds(
        "parserDeadline", 5.0, "time for one page", low=0.1, since="0.1"
    )
    extract: str = string(
        "extract", "", "module:function that reads pages", since="0.1", later=NOT_YET
    )
    plugin_path: Path | None = optional_path(
        "pluginPath", "where modules of the user are looked for", since="0.1"
    )

    # links: which ones are followed
    depth_in_site: int = whole("depthInSite", 5, "how deep to follow", high=PORT)
    depth_by_site: bool = flag("depthBySite", "a link to another host starts at full depth")
    no_external_links: bool = flag("noExternalLinks", "do not follow links to other hosts")
    lock_site: bool = flag("lockSite", "only the hosts of the first URLs")
    limit_to_domain: tuple[bytes, ...] = word_list("limitToDomain", "only hosts that end so", HOST)
    forbidden_extensions: tuple[bytes, ...] = word_list("forbiddenExtensions", "never follow", ANY)
    get_cgi: bool = flag("getCGI", "follow URLs with ?, = or *")
    get_image: bool = flag("getImage", "also follow img src and accept image/*")
    get_forms: bool = flag("getForms", "also follow the action of forms", since="0.1")
    any_type: bool = flag("anyType", "accept every content type")
    ignore_nofollow: bool = flag(
        "ignoreNofollow", "follow the links of pages that say nofollow", since="0.1"
    )
    ignore_rel: bool = flag(
        "ignoreRel", "follow links marked nofollow, ugc or sponsored", since="0.1"
    )
    ignore_noindex: bool = flag("ignoreNoindex", "index pages that say noindex", since="0.1")
    ignore_noarchive: bool = flag("ignoreNoarchive", "keep pages that say noarchive", since="0.1")
    links_per_page: int = whole(
        "linksPerPage", 50_000, "links of one page that count", low=1, since="0.1"
    )
    max_path_segments: int = whole(
        "maxPathSegments", 20, "segments of a path, 0 = no limit", since="0.1"
    )
    max_segment_repeats: int = whole(
        "maxSegmentRepeats", 4, "how often a path may hold one segment, 0 = no limit", since="0.1"
    )
    max_query_parameters: int = whole(
        "maxQueryParameters", 10, "parameters of a query, 0 = no limit", since="0.1"
    )
    max_query_size_bytes: int = size(
        "maxQuerySize", 512, "length of a query, 0 = no limit", since="0.1"
    )
    url_mode: str = choice("urlMode", ("whatwg", "larbin"), "how URLs are normalised", since="0.1")
    punycode: bool = flag(
        "punycode", "international host names", default=True, later={"no": "they are always on"}
    )
    ignore_trailing_slash: bool = flag(
        "ignoreTrailingSlash", "/a/ and /a are one page", since="0.1"
    )
    ignore_index: bool = flag("ignoreIndex", "/index.html and / are one page", since="0.1")
    sort_query: bool = flag("sortQuery", "?a&b and ?b&a are one page", since="0.1")
    drop_session_ids: bool = flag("dropSessionIds", "URLs without session ids", since="0.1")
    drop_tracking: bool = flag("dropTracking", "URLs without utm_source and such", since="0.1")
    scope: str = choice(
        "scope", ("any", "domain", "host", "prefix"), "how far from the first URLs", since="0.1"
    )
    include: tuple[bytes, ...] = word_list(
        "include", "patterns one of which a URL must match", PATTERN, since="0.1"
    )
    exclude: tuple[bytes, ...] = word_list(
        "exclude", "patterns none of which a URL may match", PATTERN, since="0.1"
    )
    accept: str = string("accept", "", "module:function that judges links", since="0.1")
    pages_per_host: int = whole("pagesPerHost", 0, "pages of one host, 0 = no limit", since="0.1")
    pages_per_domain: int = whole(
        "pagesPerDomain", 0, "pages of one domain, 0 = no limit", since="0.1"
    )
    pages_per_path: int = whole(
        "pagesPerPath", 0, "pages of one directory, 0 = no limit", since="0.1"
    )
    hosts_per_domain: int = whole(
        "hostsPerDomain", 0, "hosts of one domain, 0 = no limit", since="0.1"
    )
    same_content: int = whole(
        "sameContent",
        1000,
        "pages in a row with the same content, 0 = no limit",
        high=65535,
        since="0.1",
    )
    use_sitemaps: bool = flag("useSitemaps", "follow the sitemaps of robots.txt", since="0.1")
    sitemaps_per_host: int = whole(
        "sitemapsPerHost", 1000, "sitemaps that one host names, 0 = no limit", since="0.1"
    )
    use_feeds: bool = flag("useFeeds", "follow the links of feeds", default=True, since="0.1")
    plain_links: bool = flag("plainLinks", "follow the links of other XML and texts", since="0.1")

    # topic: which ones are followed first
    specific_search: bool = flag("specificSearch", "only pages of specificSet are handed out")
    specific_set: tuple[tuple[bytes, bytes], ...] = key_field(
        cast("tuple[tuple[bytes, bytes], ...]", ()),
        Key("specificSet", Shape.PAIRS, ANY, "content type and extension of high priority"),
    )
    rank: str = string("rank", "", "how pages are ranked", since="0.1", later=NOT_YET)
    topic_keywords: tuple[bytes, ...] = word_list(
        "topicKeywords", "words of the topic", ANY, since="0.1", later=NOT_YET
    )
    topic_strict: bool = flag("topicStrict", "only the topic", since="0.1", later=NOT_YET)
    topic_threshold: float = ratio(
        "topicThreshold", 0.5, "on the topic", low=0, high=1, since="0.1", later=NOT_YET
    )
    topic_floor: float = ratio(
        "topicFloor", 0.0, "dropped below", low=0, high=1, since="0.1", later=NOT_YET
    )
    topic_decay: float = ratio(
        "topicDecay", 0.5, "per link away", low=0, high=1, since="0.1", later=NOT_YET
    )
    ad_links: str = choice(
        "adLinks", ("lower", "drop", "follow"), "links of advertisements", since="0.1",
        later=NOT_YET,
    )  # fmt: skip

    # dedup
    seen_set: str = choice(
        "seenSet", ("exact", "bloom", "bits"), "how seen URLs are kept", since="0.1",
        group="performance",
    )  # fmt: skip
    bloom_capacity: int = whole(
        "bloomCapacity", 50_000_000, "URLs of one filter, over all processes", low=1000,
        high=10**11, group="performance", since="0.1",
    )  # fmt: skip
    bloom_rate: float = ratio(
        "bloomRate", 0.001, "share of URLs lost", low=1e-9, high=0.5, group="performance",
        since="0.1",
    )  # fmt: skip
    page_no_duplicate: bool = flag("pageNoDuplicate", "drop pages whose content was seen")
    near_duplicates: str = choice(
        "nearDuplicates", ("watch", "no", "log", "leave"),
        "what becomes of pages that are nearly the same", since="0.1",
    )  # fmt: skip
    page_digest: str = choice(
        "pageDigest", ("exact", "larbin"), "what makes two pages equal", since="0.1"
    )

    # store
    output_mode: int = whole(
        "outputMode", 0, "0 nothing, 1 save, 2 mirror, 3 statistics", high=3,
        later={
            "2": "pages are saved as by mode 1, without their names",
            "3": "nothing is written, as by mode 0",
        },
    )  # fmt: skip
    output_dir: Path = directory("outputDir", "save", "directory of saved pages", since="0.1")
    output: tuple[bytes, ...] = word_list("output", "outputs", ANY, since="0.1", later=NOT_YET)
    keep: str = choice(
        "keep", ("latest", "larger"), "which copy of a page", since="0.1", later=NOT_YET
    )
    file_names: str = choice(
        "fileNames", ("number", "path", "hash"), "names of saved pages", since="0.1", later=NOT_YET
    )
    page_requisites: bool = flag(
        "pageRequisites", "what pages need to be shown", since="0.1", later=NOT_YET
    )
    roll_size_bytes: int = size(
        "rollSize", 1 << 30, "size of a WARC file", low=1 << 20, since="0.1", later=NOT_YET
    )

    # what the operator sees
    print_stats: bool = flag("printStats", "counters and rates on the terminal every 8 s")
    fetch_info: bool = flag("fetchInfo", "a line per URL on the terminal")
    http_port: int = whole(
        "httpPort", 0, "port of the status pages, 0 = none", high=PORT,
        later={"*": "there are no status pages; see report.json in stateDir"},
    )  # fmt: skip
    http_host: str = string(
        "httpHost", "127.0.0.1", "address of httpPort", since="0.1", later=NOT_YET
    )
    histograms: bool = flag(
        "histograms", "time series on the status pages", later={"*": "there are no status pages"}
    )
    high_level_web_server: bool = flag(
        "highLevelWebServer", "the status pages outlive the crawl",
        later={"*": "there are no status pages"},
    )  # fmt: skip
    debug: bool = flag(
        "debug", "internal counters", later={"*": "it has no effect; see report.json in stateDir"}
    )

    @property
    def user_agent_token(self) -> bytes:
        """The name looked for in robots.txt: the leading letters, ``_`` and ``-``."""
        match = TOKEN.match(self.user_agent)
        return match[0].encode() if match else b""

    @property
    def is_bound_to_seeds(self) -> bool:
        """Whether links may not lead anywhere, but depends on the first URLs where they may."""
        return self.lock_site or self.scope != "any"

    @property
    def ip_wait_s(self) -> float:
        """``waitDurationIP``, or ``waitDuration`` where it is unset."""
        ip_wait = self.wait_duration_ip_s
        return self.wait_duration_s if ip_wait is None else ip_wait

    @property
    def max_decoded_bytes(self) -> int:
        """The largest body once its content encoding is removed: 20 MiB for 8 MiB."""
        return int(self.max_page_size_bytes * DECODED_FACTOR)


ATTRIBUTES: Final[dict[str, str]] = {
    field.metadata["key"].name: field.name for field in fields(Config)
}
"""Name of the key, as users write it -> attribute of ``Config``."""

KEYS: Final[dict[str, Key]] = {
    field.metadata["key"].name.lower(): field.metadata["key"] for field in fields(Config)
}
"""Name of the key in lower case -> the key."""

ALIASES: Final[dict[str, str]] = {"maxbandwidth": "bondwidth"}
"""Names of older larbins, in lower case."""


def find_key(name: str) -> Key | None:
    """Return the key with this name, in any case, or None."""
    lower = name.lower()
    return KEYS.get(ALIASES.get(lower, lower))
