"""Logs of a proxy between an agent and its model, one HTTP exchange a record.

claude-trace writes `{"request": {"url", "body", ...}, "response": {"body" or "body_raw", ...}}`; gateways such as
Helicone write `{"request_body", "response_body", ...}`. A request that is still without an answer is a call too.
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
from .shapes import is_body, is_response
from .times import parse_time

ADDRESSES = ("url", "uri", "path", "target_url", "endpoint")
BODIES = ("body", "body_raw", "parsed_body", "json", "content", "text", "data")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are HTTP exchanges."""
    return 0.96 * share(values, lambda value: _is_exchange(value) or _is_list(value))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations with models that the log holds."""
    return read_exchanges(reading, _exchanges)


def _exchanges(record: Record) -> list[Exchange | str] | None:
    if _is_list(record.value):
        before = f"{record.place}, " if record.place else ""
        return [_one(value, f"{before}item {number}") for number, value in enumerate(record.value, 1)]
    found = _one(record.value, record.place)
    return [found] if isinstance(found, Exchange) else None


def _one(value: Any, place: str) -> Exchange | str:
    if not isinstance(value, Mapping) or not _is_exchange(value):
        return place
    return _gateway(value, place) if "request_body" in value else _pair(value, place)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and sum(map(_is_exchange, value)) * 2 >= len(value)


def _is_exchange(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("request_body"), Mapping | str):
        return "response_body" in value or "request_path" in value or "response_status" in value
    request = value.get("request")
    if not isinstance(request, Mapping) or is_body(request):
        return False
    return any(isinstance(request.get(key), str) for key in ADDRESSES) and "response" in value


def _pair(value: Wire, place: str) -> Exchange:
    request, response = inner(value, "request"), inner(value, "response")
    answer = value.get("response") if not response or is_response(response) else _body(response)
    return Exchange(
        place=place,
        url=text(request, *ADDRESSES),
        method=text(request, "method") or "POST",
        request=_body(request),
        response=answer,
        status=_status(response, "status_code", "status", "statusCode"),
        at=_time(request, response, value),
        headers=header_map(request.get("headers")),
    )


def _gateway(value: Wire, place: str) -> Exchange:
    named = header_map(value.get("request_properties") or value.get("properties"))
    session = named.get("helicone-session-id") or text(value, "session_id")
    return Exchange(
        place=place,
        url=text(value, "request_path", "target_url", "url"),
        method="POST",
        request=body_text(value["request_body"]),
        response=body_text(value.get("response_body")),
        status=_status(value, "response_status", "status"),
        at=_time({"timestamp": value.get("request_created_at")}, {}, value),
        headers={"x-session-id": session} if session else {},
    )


def _body(side: Wire) -> Any:
    for key in BODIES:
        found = body_text(side.get(key))
        if found not in (None, ""):
            return found
    return None


def _status(side: Wire, *keys: str) -> int | None:
    return next((side[key] for key in keys if isinstance(side.get(key), int)), None)


def _time(*sides: Wire) -> Any:
    names = ("timestamp", "started_at", "start_time", "time", "created_at", "logged_at", "date")
    values = (side.get(name) for side in sides for name in names)
    return next((at for value in values if (at := parse_time(value)) is not None), None)


FORMAT = Format("http_log", "logs of HTTP exchanges with a model", sniff, read)
