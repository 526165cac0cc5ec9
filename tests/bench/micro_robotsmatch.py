"""The robots matcher: kernel beside the reference, and beside protego where it is installed.

Workloads, distinct paths each:
  - a usual file: 40 literal rules and 5 with wildcards, paths of which a third are disallowed;
  - a long file: 5000 literal rules;
  - a file of 300 rules with wildcards, none of which matches;
  - the real files of the conformance data, where these lie beside the checkout;
and the time that it takes to read a usual file, and the longest that is read.

Command: python -m tests.bench.micro_robotsmatch
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from larbinpy._native.robotsmatch import Matcher
from larbinpy.politeness.robots import MAX_TEXT_BYTES, Rules
from tests.bench.measure import compare
from tests.conformance.shared import ROOT
from tests.reference.robotsmatch import Matcher as Plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    File = tuple[bytes, list[bytes]]

try:
    from protego import Protego
except ImportError:
    Protego = None

PATHS = 200
FEW_PATHS = 20
REAL_PATHS = 20
TOKEN = b"nobody"
HEAD = b"User-agent: *\n"


def usual() -> bytes:
    """Lines as content management systems bring them."""
    lines = [b"Disallow: /dir%02d/sub/\n" % number for number in range(38)]
    lines += [b"Disallow: /*?sort=\n", b"Disallow: /*.php$\n", b"Disallow: /*/print/\n"]
    lines += [b"Disallow: /search*q=\n", b"Allow: /*.css$\n", b"Disallow: /a\n", b"Allow: /about\n"]
    return HEAD + b"".join(lines)


def long() -> bytes:
    """Many literal rules."""
    return HEAD + b"".join(b"Disallow: /dir%d/sub/\n" % number for number in range(5000))


def wild() -> bytes:
    """Many wildcards."""
    return HEAD + b"".join(b"Disallow: /*/x%dy*&z=\n" % number for number in range(300))


def paths(count: int) -> list[bytes]:
    """Distinct paths of 40 bytes."""
    shapes = (
        b"/dir%02d/sub/page-with-a-long-name%05d.html",
        b"/x%d/articles/2024/story?id=%07d&m=1",
        b"/a%d/pictures/of/something/large%05d.png",
    )
    return [shapes[number % 3] % (number % 60, number) for number in range(count)]


def rules_of(text: bytes) -> Iterator[tuple[bytes, bool, int]]:
    """The rules of a text that has one group for everyone."""
    for number, line in enumerate(text.splitlines(), 1):
        key, _, pattern = line.partition(b": ")
        if key != b"User-agent":
            yield pattern, key == b"Allow", number


def real_files() -> Iterator[File]:
    """The real files, each with distinct paths made of those it is to be asked for."""
    folder = ROOT / "data" / "robots"
    rows = (folder / "verdicts.tsv").read_bytes().split(b"\n") if folder.exists() else []
    by_file: dict[str, list[bytes]] = {}
    for row in rows:
        if row.startswith(b"real-"):
            name, _, path, *_ = row.split(b"\t")
            by_file.setdefault(name.decode(), []).append(path)
    for file, known in by_file.items():
        asked = [b"%b%d" % (known[number % len(known)], number) for number in range(REAL_PATHS)]
        yield (folder / "files" / file).read_bytes(), asked


def each(asked: Iterable[tuple[Callable[[Any], object], Sequence[object]]]) -> None:
    """Ask for all paths one by one."""
    for allows, paths_of_file in asked:
        for path in paths_of_file:
            allows(path)


def protego_of(text: bytes) -> Callable[[str], object]:
    """What protego answers to a URL."""
    known: Any = Protego.parse(text.decode("utf-8", "replace"))  # Any: it has no types
    return lambda url: known.can_fetch(url, TOKEN.decode())


def verdicts(title: str, files: list[File], *, plain: bool = True) -> None:
    """Compare the verdicts of files; with the reference where it is not too slow."""
    ours = [(Rules.parse(text, TOKEN).allows, asked) for text, asked in files]
    ways: dict[str, Callable[[], object]] = {"Rules.allows": lambda: each(ours)}
    if plain:
        [(text, asked)] = files
        many, reference = Matcher(rules_of(text)), Plain(rules_of(text))
        ways["Matcher.allows_many"] = lambda: many.allows_many(asked)
        ways["reference"] = lambda: each([(reference.allows, asked)])
    if Protego is not None:
        others = [
            (protego_of(text), [f"http://example.org{path.decode()}" for path in asked])
            for text, asked in files
        ]
        ways["protego"] = lambda: each(others)
    compare(title, ways, items=sum(len(asked) for _, asked in files))


def reading(title: str, text: bytes) -> None:
    """Compare the time to read a text."""
    ways: dict[str, Callable[[], object]] = {"Rules.parse": lambda: Rules.parse(text, TOKEN)}
    if Protego is not None:
        ways["protego"] = lambda: protego_of(text)
    compare(title, ways, items=1)


def main() -> None:
    """Print all comparisons."""
    verdicts("usual file, 45 rules", [(usual(), paths(PATHS))])
    verdicts("long file, 5000 literal rules", [(long(), paths(FEW_PATHS))])
    verdicts("300 rules with wildcards", [(wild(), paths(FEW_PATHS))])
    if files := list(real_files()):
        verdicts(f"{len(files)} real files", files, plain=False)
    reading("reading a usual file", usual())
    reading("reading 500 KiB of rules", (long() * 5)[:MAX_TEXT_BYTES])


if __name__ == "__main__":
    main()
