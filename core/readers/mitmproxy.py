"""Flow files of mitmproxy, which are refused: their form is the program's own, and it writes HAR as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..transcript import Transcript
from .formats import Format, Reading

_START = re.compile(r"\d{1,10}:\d{1,4}:[a-z_]{2,30}[;,~]")


def sniff(values: Sequence[Any]) -> float:
    """Return that no JSON is a flow file."""
    return 0.0


def sniff_text(start: str) -> float:
    """Return how likely a text is a flow file: lengths stand before names and values."""
    return 0.99 if _START.match(start) else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Say what to do instead."""
    expected = "Write it as HAR (`mitmdump -nr FILE --set hardump=flows.har`) and read that."
    reading.report.add("this is a flow file of mitmproxy", expected)
    yield from ()


FORMAT = Format("mitmproxy", "flow files of mitmproxy", sniff, read, sniff_text)
