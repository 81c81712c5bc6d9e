"""Recorded HTTP traffic: which requests are calls to a language model, and what was asked and answered.

A call is told by its body first, as proxies and gateways have addresses of their own, and by its address where
bodies are alike: counting tokens, embeddings and images take much the same body and answer nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from ..dialects import detect, dialect
from ..transcript import Fidelity
from ..wire import Wire, digest
from ..wording import agreeing, counted
from . import bedrock, sourcegraph
from .fields import inner, text
from .items import Item
from .problems import Report
from .responses import ResponseFacts, response_facts
from .shapes import LISTS, as_rest, is_body, list_key
from .streams import body_value

_NO_CALL = re.compile(
    r"count_?tokens|embed|moderation|/rerank|/audio|/images|/files\b|/batches|/fine_?tun|/tokenize|telemetry",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"/chat/completions|/v1/messages\b|/responses\b|:(?:stream)?generateContent|:(?:stream)?rawPredict"
    r"|/api/chat\b|/completions/stream|/model/[^/]+/(?:invoke|converse)|/v1/complete\b|/v1/completions\b",
    re.IGNORECASE,
)
_MODELS_IN_URL = (
    re.compile(r"/models/([^/:?]+):\w*(?:[gG]enerateContent|[rR]awPredict)"),
    re.compile(r"/deployments/([^/?]+)/"),
    re.compile(r"/model/([^/?]+)/(?:invoke|converse)"),
)
_DIALECTS_IN_URL = (
    (re.compile(r"/v1/messages\b|anthropic|/converse"), "anthropic"),
    (re.compile(r"enerateContent"), "gemini"),
    (re.compile(r"/responses\b"), "openai_responses"),
    (re.compile(r"/chat/completions|/api/chat\b"), "openai_chat"),
)
_SESSION_HEADERS = ("session_id", "session-id", "x-session-id", "x-claude-code-session-id", "x-session-affinity")
_SESSION_KEYS = ("session_id", "conversation_id", "thread_id")
SIGNATURE = 300
"""Characters of a system prompt that tell agents apart: what follows changes with the day and the folder."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request with its response, bodies as text or as the values that the recorder made of them."""

    place: str
    url: str = ""
    method: str = "POST"
    request: Any = None
    response: Any = None
    status: int | None = None
    at: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """The request's headers, names in lower case."""


def call_of(exchange: Exchange, report: Report) -> Item | None:
    """Return an exchange as a call to a model; None if it is none. What looks like a call and is none is reported."""
    if exchange.method.upper() not in ("POST", "") or _NO_CALL.search(_path(exchange.url)):
        return None
    body, answer = _parsed(exchange.request), body_value(exchange.response)
    if isinstance(body, Mapping) and sourcegraph.is_body(body):
        return _item(exchange, sourcegraph.request(body), sourcegraph.facts(exchange.response), report, converted=True)
    if bedrock.is_body(body):
        facts = bedrock.facts(bedrock.joined(answer)) or _facts(answer, exchange, report)
        return _item(exchange, bedrock.request(body), facts, report, converted=True)
    if isinstance(body, Mapping) and is_body(body):
        return _item(exchange, as_rest(body), _facts(answer, exchange, report), report)
    facts = response_facts(answer)
    if facts.dialect is not None:
        return Item(exchange.place, facts.dialect, facts=facts, logged=True, at=exchange.at or facts.at)
    if _CALL.search(_path(exchange.url)):
        what = "the request's body was not recorded" if body in (None, "") else "the request is of no known shape"
        expected = "A request of OpenAI, Anthropic or Gemini was expected; it was left out."
        report.add(what, expected, place=exchange.place)
    return None


def header_map(headers: Any) -> dict[str, str]:
    """Return headers by lower-case name, from an object (values may be lists) or a list of name and value."""
    if isinstance(headers, Mapping):
        pairs = [(name, value[0] if isinstance(value, list) and value else value) for name, value in headers.items()]
    else:
        listed = [header for header in headers if isinstance(header, Mapping)] if isinstance(headers, list) else []
        pairs = [(header.get("name"), header.get("value")) for header in listed]
    return {name.lower(): value for name, value in pairs if isinstance(name, str) and isinstance(value, str)}


def in_order(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Return exchanges by time; one without a time stays behind the one before it."""
    times = accumulate((exchange.at.timestamp() if exchange.at else None for exchange in exchanges), _last)
    keyed = sorted(zip((time or 0.0 for time in times), range(len(exchanges)), strict=True))
    return [exchanges[number] for _, number in keyed]


def _last(before: float | None, after: float | None) -> float | None:
    return before if after is None else after


def thread_of(spoken: str, body: Wire) -> str:
    """Return what tells the agents of a session apart: the beginning of the longest part of the system prompt."""
    known = dialect(spoken)
    head, _ = known.split(body)
    longest = max(known.system_texts(head), key=len, default="")[:SIGNATURE]
    return digest(longest).hex()[:8] if longest else "no system prompt"


def _item(
    exchange: Exchange, body: Wire, facts: ResponseFacts | None, report: Report, converted: bool = False
) -> Item | None:
    key = list_key(body)
    listed = body[key] if isinstance(body[key], list) else [{}]
    numbers = [number for number, message in enumerate(listed, 1) if isinstance(message, Mapping)]
    if len(numbers) != len(listed):
        lost = len(listed) - len(numbers)
        left = f"{lost:,} of {counted(len(listed), 'message')} {agreeing(lost, 'is no object', 'are no objects')}"
        report.add(left, f"{agreeing(lost, 'It was', 'They were')} left out.", place=exchange.place)
        body = {**body, key: [listed[number - 1] for number in numbers]}
    spoken = _dialect(exchange.url, body, facts)
    session = _session(exchange, body)
    item = Item(
        place=exchange.place,
        dialect=spoken,
        body=body,
        facts=facts,
        logged=True,
        session=session,
        at=exchange.at or (facts.at if facts else None),
        numbers=numbers,
        asked=_model(exchange.url),
        fidelity=Fidelity.RECONSTRUCTED if converted else None,
    )
    return replace(item, thread=thread_of(spoken, body)) if session else item


def _facts(answer: Any, exchange: Exchange, report: Report) -> ResponseFacts | None:
    facts = response_facts(answer)
    if facts.dialect is not None:
        return facts
    if answer not in (None, ""):
        failed = (exchange.status or 200) >= 400 or (isinstance(answer, Mapping) and "error" in answer)
        report.add(
            "the call failed, so there is no response" if failed else "the response is of no known shape",
            "The request was read." if failed else "A response of one of the known providers was expected.",
            place=exchange.place,
            warning=failed,
        )
    return None


def _dialect(url: str, body: Wire, facts: ResponseFacts | None) -> str:
    key = list_key(body)
    by_url = next((name for pattern, name in _DIALECTS_IN_URL if pattern.search(url)), None)
    for known in (facts.dialect if facts else None, by_url):
        if known is not None and LISTS[known] == key:
            return known
    return detect(body)


def _model(url: str) -> str | None:
    found = next((match for pattern in _MODELS_IN_URL if (match := pattern.search(url))), None)
    return unquote(found.group(1)) if found else None


def _session(exchange: Exchange, body: Wire) -> str:
    metadata = inner(body, "metadata")
    user = text(metadata, "user_id")
    if "_session_" in user:
        return user.rpartition("_session_")[2]
    named = _parsed(user) if user.startswith("{") else None
    return text(named, *_SESSION_KEYS) or text(metadata, *_SESSION_KEYS) or text(exchange.headers, *_SESSION_HEADERS)


def _path(url: str) -> str:
    return url.partition("?")[0].partition("://")[2] or url


def _parsed(body: Any) -> Any:
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return body
