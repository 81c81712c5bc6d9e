"""HAR: what a browser, a proxy or a test's recorder saw of HTTP traffic, as JSON or YAML.

Most of it is no traffic of language models; of a HAR without any, that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .exchanges import Exchange, header_map
from .fields import inner, text
from .formats import Format, Reading, share
from .packed import polly_text
from .recordings import read_exchanges
from .records import Record
from .times import parse_time


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are HARs."""
    return 0.99 * share(values, _is_har)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations with models that the traffic holds."""
    return read_exchanges(reading, _exchanges)


def _is_har(value: Any) -> bool:
    log = inner(value, "log")
    return isinstance(log.get("entries"), list) and ("creator" in log or "version" in log or "browser" in log)


def _exchanges(record: Record) -> list[Exchange | str] | None:
    entries = inner(record.value, "log").get("entries")
    if not isinstance(entries, list):
        return None
    return [_exchange(entry, f"entry {number}") for number, entry in enumerate(entries, 1)]


def _exchange(entry: Any, place: str) -> Exchange | str:
    request, response = inner(entry, "request"), inner(entry, "response")
    if not request:
        return place
    return Exchange(
        place=place,
        url=text(request, "url"),
        method=text(request, "method"),
        request=_posted(request),
        response=_received(inner(response, "content")),
        status=response["status"] if isinstance(response.get("status"), int) else None,
        at=parse_time(entry.get("startedDateTime")),
        headers=header_map(request.get("headers")),
    )


def _posted(request: Wire) -> Any:
    posted = inner(request, "postData")
    if isinstance(posted.get("textJSON"), Mapping | list):
        return posted["textJSON"]
    body = posted.get("text")
    return polly_text(body, posted.get("encoding") == "base64") if isinstance(body, str) else None


def _received(content: Wire) -> Any:
    if isinstance(content.get("textJSON"), Mapping | list):
        return content["textJSON"]
    body = content.get("text")
    coded = content.get("encoding") == "base64" or content.get("_isBinary") is True or content.get("_isBase64") is True
    return polly_text(body, coded) if isinstance(body, str) else None


FORMAT = Format("har", "HAR recordings of HTTP traffic", sniff, read)
