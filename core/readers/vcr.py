"""VCR cassettes: HTTP exchanges that tests recorded, as YAML or JSON, by the libraries of several languages.

`interactions` (vcrpy, go-vcr, pydantic-ai, zen), `http_interactions` (VCR for Ruby, Betamax), and the bare lists of
nock, which hold what was answered and rarely what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .exchanges import Exchange, header_map
from .fields import inner, text
from .formats import Format, Reading, share
from .packed import body_text
from .recordings import read_exchanges
from .records import Record
from .times import parse_time

LISTS = ("interactions", "http_interactions", "recordings")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are cassettes."""
    return 0.97 * share(values, lambda value: _interactions(value) is not None)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations with models that a cassette holds."""
    return read_exchanges(reading, _exchanges)


def _exchanges(record: Record) -> list[Exchange | str] | None:
    listed = _interactions(record.value)
    if listed is None:
        return None
    before = f"{record.place}, " if record.place else ""
    return [_exchange(one, f"{before}interaction {number}") for number, one in enumerate(listed, 1)]


def _interactions(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value if value and sum(map(_is_nock, value)) * 2 >= len(value) else None
    if not isinstance(value, Mapping):
        return [value] if _is_nock(value) else None
    for key in LISTS:
        listed = value.get(key)
        if isinstance(listed, list) and (not listed or any(inner(one, "request") for one in listed)):
            return listed
    return [value] if _is_nock(value) else None


def _is_nock(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("scope"), str) and "path" in value and "status" in value


def _exchange(one: Any, place: str) -> Exchange | str:
    if _is_nock(one):
        return _nock(one, place)
    request, response = inner(one, "request"), inner(one, "response")
    if not request:
        return place
    return Exchange(
        place=place,
        url=text(request, "uri", "url", "path"),
        method=text(request, "method") or "POST",
        request=_body(request),
        response=_body(response),
        status=_status(response),
        at=parse_time(one.get("recorded_at")),
        headers=header_map(request.get("headers")),
    )


def _nock(one: Wire, place: str) -> Exchange:
    return Exchange(
        place=place,
        url=text(one, "scope") + text(one, "path"),
        method=text(one, "method"),
        request=body_text(one.get("body")),
        response=body_text(one.get("response")),
        status=one["status"] if isinstance(one.get("status"), int) else None,
        headers=header_map(one.get("reqheaders")),
    )


def _body(side: Wire) -> Any:
    """Return a body: parsed, as a text, or coded; the first that holds something."""
    for key in ("parsed_body", "body", "content"):
        found = body_text(side.get(key))
        if found not in (None, ""):
            return found
    return None


def _status(response: Wire) -> int | None:
    status = response.get("status", response.get("status_code", response.get("code")))
    status = status.get("code") if isinstance(status, Mapping) else status
    return status if isinstance(status, int) else None


FORMAT = Format("vcr", "VCR cassettes", sniff, read)
