"""How the parts of a process are made from the configuration.

In: a ``Start``, which is the configuration and where the process has its place.
Out: parts that know nothing of the configuration: they are given numbers, here.
Remembers nothing.
Process: all but the supervisor.

In the order of the data: ``urls`` (seeds) - ``scope`` and ``links`` (what is queued) - ``types``
(what is fetched and read) - ``duplicates`` and ``pages`` (what pages are) - ``output``.
"""

from larbinpy.wiring.duplicates import late_domains, make_near, make_pages, page_digest
from larbinpy.wiring.links import make_acceptance, make_links
from larbinpy.wiring.output import CREDIT_PER_CONNECTION, SPARE_CREDIT, make_lines, make_store
from larbinpy.wiring.pages import make_plain, make_reader, obeyed
from larbinpy.wiring.scope import read_sites, write_sites
from larbinpy.wiring.start import Start
from larbinpy.wiring.types import accepted_types, fetched_types, read_lists, specific_types
from larbinpy.wiring.urls import base_maker, equal_urls, url_parser

__all__ = [
    "CREDIT_PER_CONNECTION",
    "SPARE_CREDIT",
    "Start",
    "accepted_types",
    "base_maker",
    "equal_urls",
    "fetched_types",
    "late_domains",
    "make_acceptance",
    "make_lines",
    "make_links",
    "make_near",
    "make_pages",
    "make_plain",
    "make_reader",
    "make_store",
    "obeyed",
    "page_digest",
    "read_lists",
    "read_sites",
    "specific_types",
    "url_parser",
    "write_sites",
]
