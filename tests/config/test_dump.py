"""Every configuration can be written and read again."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larbinpy.config import ATTRIBUTES, KEYS, Config, dump, from_json, loads, to_json
from larbinpy.config.keys import Key, Shape
from larbinpy.config.values import (
    Choice,
    Duration,
    FilePath,
    ForOrigin,
    HeaderLine,
    HttpUrl,
    Pattern,
    ProxyAddress,
    Ratio,
    Size,
    Text,
    Whole,
)

FULL = Config(
    user_agent="my bot # 1",
    start_urls=(b"http://a/#x", b"http://\xff/"),
    seed_file=Path("-"),
    limit_to_domain=(b"end", b".fr", b"getcgi"),
    specific_set=((b"text/plain", b".txt"), (b"end", b"end")),
    wait_duration_s=0.25,
    wait_duration_ip_s=0.0,
    limit_time_s=1 / 3,
    output_dir=Path("output"),
    proxy="http://u:p@www:8080",
    auth=((b"https://a:443", b"u:p q"),),
    header=((b"https://a:443", b"X: y z"), (b"http://b:8", b"A: b")),
    get_cgi=True,
    bloom_rate=1e-9,
)

SAMPLES: dict[type, list[str]] = {
    Pattern: ["^http://a", "[?&]b c=", r"\.html$", "end"],
    ProxyAddress: ["host 80", "socks5://u:p@host:80"],
}
CHARS = st.characters(exclude_characters='"\x7f', min_codepoint=32, max_codepoint=0x2FF)


def texts(key: Key) -> st.SearchStrategy[str]:
    """Texts that a value of this key may have."""
    match key.kind:
        case Choice():
            return st.sampled_from(key.kind.words)
        case Whole() | Size():
            return st.integers(key.kind.low, key.kind.high).map(str)
        case Ratio():
            return st.floats(key.kind.low, key.kind.high).map(repr)
        case Duration():
            return st.floats(key.kind.low, key.kind.high).map("{!r}s".format)
        case HttpUrl():
            return st.text(CHARS).map("http://x{}".format)
        case FilePath():
            return st.text(CHARS, min_size=1)
        case Text():
            return st.text("ab #_", min_size=1).map("a{}".format)
        case Pattern() | ProxyAddress():
            return st.sampled_from(SAMPLES[type(key.kind)])
        case ForOrigin():
            values = st.text("ab #_:", min_size=1)
            form = "X: {}c" if isinstance(key.kind.what, HeaderLine) else "u:{}"
            return values.map(lambda text: f"https://a:443 {form.format(text)}")
    return st.text(CHARS.filter(str.isascii), min_size=1)


def words(key: Key) -> st.SearchStrategy[list[str]]:
    """Words that may follow this key."""
    if key.shape is Shape.PAIRS:
        pairs = st.lists(st.tuples(texts(key), texts(key)), max_size=3)
        return pairs.map(lambda found: [word for pair in found for word in pair])
    if key.is_list:
        values = st.lists(texts(key), max_size=3)
        splits = key.word_count - 1
        return values.map(
            lambda found: [word for text in found for word in text.split(" ", splits)]
        )
    return st.lists(texts(key), min_size=1, max_size=1)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    """Configurations with a few keys changed, of those that work."""
    names = draw(st.lists(st.sampled_from(sorted(ATTRIBUTES)), max_size=8, unique=True))
    keys = [KEYS[name.lower()] for name in names if not KEYS[name.lower()].later]
    ignored = {
        "pagesConnexions",
        "bodyMemory",
        "maxPageSize",
        "nameServer",
        "accept",
    }  # checked together
    values = {
        ATTRIBUTES[key.name]: key.read(draw(words(key))) for key in keys if key.name not in ignored
    }
    return Config(**values)


def test_a_dump_reads_as_the_same_configuration() -> None:
    """With blanks, hashes, keywords and bytes in its values."""
    assert loads(dump(FULL)).config == FULL
    assert loads(dump(Config())).config == Config()


def test_json_gives_the_same_configuration() -> None:
    """The supervisor hands it to its children so."""
    assert from_json(json.loads(json.dumps(to_json(FULL)))) == FULL
    assert from_json(to_json(Config())) == Config()


def test_a_configuration_can_be_pickled() -> None:
    """And is hashable, as it is frozen."""
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    assert len({FULL, Config(), Config()}) == 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(configs())
def test_any_configuration_survives(config: Config) -> None:
    """A dump and JSON both."""
    assert from_json(to_json(config)) == config
    if config.state_dir != config.output_dir:
        assert loads(dump(config)).config == config
