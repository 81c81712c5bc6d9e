"""The HTTP routes beside the pages: `POST /api/capture` and `GET /healthz`.

A capture is answered with 201 only after it is committed, so a client that got its answer may forget the call. Token
figures of a response that cannot be true are left out and named in `remarks`. A streamed response is given as the text
of its events or as their list, and stored as the response that they make up. What is no response of a known provider
is noted as a failed call, with how it begins, and no figure is taken from it. Every refusal is `{"error": sentence}`.
The guard in front of the app decides who may call.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from core import ENGINE_VERSION
from core.errors import PromptInspectorError, RequestError
from core.hints import Hints
from core.readers.answers import whole_response
from core.readers.times import parse_time

from . import library
from .capture_limit import LIMIT, capture_limit
from .errors import StorageError
from .guard import ROUTES
from .library import Appended, Exchange

__all__ = ["routes"]

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
LONGEST_SESSION = 500
EXPECTED = (
    '{"request": {...}, "response": {...}, a stream\'s text or null, "session": "...", "hints": {...}, "at": "..."}'
)
KEYS = ("request", "response", "session", "hints", "at")

log = logging.getLogger(__name__)


class Refused(PromptInspectorError):
    """A capture that cannot be taken: an HTTP status, and the sentence as the error's text."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status = status
        super().__init__(sentence)


def routes() -> list[BaseRoute]:
    """Return the routes as `st.App` takes them, with an answer in JSON for whatever else a program asks there.

    Without it the pages would answer: a program that asks wrongly would be told 200 and given HTML.
    """
    there = [
        Route("/api/capture", capture, methods=["POST"]),
        Route("/healthz", health, methods=["GET"]),
    ]
    wrong = [
        Route(route.path, _wrong_method(route), methods=list(METHODS - (route.methods or set()))) for route in there
    ]
    places = [place for root in ROUTES for place in (root, f"{root}/{{path:path}}")]
    return [*there, *wrong, *(Route(place, _no_such_route, methods=list(METHODS)) for place in places)]


def _wrong_method(route: Route) -> Callable[[Request], Awaitable[Response]]:
    allowed = ", ".join(sorted(route.methods or ()))

    async def answer(request: Request) -> Response:
        response = _error(405, f"{route.path} does not take {request.method}, only {allowed}.")
        response.headers["allow"] = allowed
        return response

    return answer


async def _no_such_route(request: Request) -> Response:
    return _error(404, f"There is no route {request.url.path}. Send captures to POST /api/capture.")


async def capture(request: Request) -> Response:
    """Store one request and response as the next call of their transcript."""
    try:
        _check_headers(request)
        appended = await run_in_threadpool(_append, await _bytes(request))
    except Refused as refused:
        return _error(refused.status, str(refused))
    except RequestError as error:
        return _error(400, str(error))
    except StorageError as error:
        log.error("A capture was not stored: %s", error)
        return _error(503, str(error))
    stored = {"transcript": appended.transcript, "call": appended.call}
    return JSONResponse({**stored, "masked": dict(appended.masked), "remarks": list(appended.remarks)}, status_code=201)


async def health(_request: Request) -> Response:
    """Say whether the store answers."""
    try:
        transcripts = await run_in_threadpool(lambda: library().ping())
    except StorageError as error:
        return JSONResponse({"status": "failing", "error": str(error)}, status_code=503)
    return JSONResponse({"status": "ok", "version": ENGINE_VERSION, "transcripts": transcripts})


def exchange_of(body: Any) -> Exchange:
    """Return what a capture's JSON says. Refused with 400 where it says something else than expected."""
    if not isinstance(body, Mapping):
        raise Refused(400, f"The body is {_kind(body)}; an object was expected: {EXPECTED}.")
    unknown = next((key for key in body if key not in KEYS), None)
    if unknown is not None:
        raise Refused(400, f"There is no field {unknown!r}; known are {', '.join(KEYS)}.")
    if "request" not in body:
        raise Refused(400, f"The field 'request' is missing; expected is {EXPECTED}.")
    return Exchange(
        request=_object(body, "request") or {},
        response=_response(body.get("response")),
        session=_session(body.get("session")),
        hints=_hints(_object(body, "hints")),
        at=_moment(body.get("at")),
    )


def _append(content: bytes) -> Appended:
    """Store a capture. In a thread of its own, since parsing and masking of a large one would hold up all pages."""
    try:
        return library().append_call(exchange_of(_parsed(content)))
    except RecursionError:
        raise Refused(400, "The JSON is nested too deeply to be a request.") from None


def _check_headers(request: Request) -> None:
    """Refuse with 415 what is not JSON as it is. A form or a plain text could come from any site's page."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise Refused(415, f"The content type is {media or 'missing'}; send application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, "The body is compressed; send it as it is.")


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except UnicodeDecodeError:
        raise Refused(400, "The body is not UTF-8, so it is not JSON.") from None
    except ValueError as error:
        raise Refused(400, f"The body is not JSON: {error}.") from None


async def _bytes(request: Request) -> bytes:
    """Read a body, but never more of it than is allowed."""
    limit = capture_limit()
    length = request.headers.get("content-length", "0")
    body = bytearray()
    try:
        if length.isdecimal() and int(length) > limit:
            raise Refused(413, _too_large())
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise Refused(413, _too_large())
    except ClientDisconnect:
        raise Refused(400, "The connection ended before the body did.") from None
    return bytes(body)


def _too_large() -> str:
    return f"The body is larger than {capture_limit() / 1_000_000:g} MB. Set {LIMIT} on the server to take larger ones."


def _object(body: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = body.get(key)
    if value is None and key != "request":
        return None
    if not isinstance(value, Mapping):
        raise Refused(400, f"The field {key!r} is {_kind(value)}; an object was expected.")
    return value


def _response(value: Any) -> Mapping[str, Any] | None:
    """Return a response as one object: a stream is joined here, before secrets are looked for, which it may cut."""
    whole = whole_response(value)
    kept = whole if isinstance(whole, Mapping) else value
    if kept is not None and not isinstance(kept, Mapping):
        raise Refused(400, f"The field 'response' is {_kind(kept)}; an object, or a provider's stream, was expected.")
    return kept


def _session(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_SESSION:
        raise Refused(400, f"The field 'session' must be a text of at most {LONGEST_SESSION} characters.")
    return value.strip()


def _hints(value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    Hints.of(value)
    return value


def _moment(value: Any) -> Any:
    moment = parse_time(value)
    if value is not None and moment is None:
        raise Refused(400, f"The field 'at' is no time: {value!r}. Write it as 2026-01-31T12:00:00Z.")
    return moment


def _kind(value: Any) -> str:
    names = {type(None): "null", str: "a text", bool: "true or false", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _error(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status_code=status)
