"""What production calls: load an exported configuration, assemble each request, send the result.

    runtime = ContextRuntime.load("config.json")
    result = runtime.assemble(request)

A runtime is safe for many threads: a stateless call shares nothing but memos. A session is one thread's; it gives the
same results and is faster, because it reads only what a request adds to the one before.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .config import Configuration, load_config
from .decisions import Decision, Status
from .dialects import Dialect, detect, other_dialect
from .engine import Engine, Planner, checked
from .errors import RequestError
from .hint_notes import hint_notes
from .hints import Hints
from .plan import Plan, apply
from .spans import Span, SpanKind
from .summaries import Range, Summaries
from .summary_notes import log_failures, summary_notes
from .unit_feed import UnitFeed
from .wire import Wire, dump, mark

__all__ = ["ContextRuntime", "Hints", "Result", "Session"]


@dataclass(frozen=True, slots=True)
class Result:
    """The body to send, and what was done to get it."""

    request: dict[str, Any]
    plan: Plan
    hints: Hints = Hints()

    @property
    def notes(self) -> tuple[str, ...]:
        """What hints name and the request does not have, and where a summariser failed, in sentences."""
        return (*hint_notes(self.hints, self.plan), *summary_notes(self.plan))

    @property
    def status(self) -> Status:
        """How the prompt came out."""
        return self.plan.status

    @property
    def excess(self) -> int:
        """Tokens over the soft budget, 0 if none."""
        return self.plan.excess

    @property
    def blockers(self) -> tuple[str, ...]:
        """The ids of the spans that cannot go, when the result is over its budget."""
        return self.plan.blockers

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One decision a span."""
        return self.plan.decisions

    @property
    def tokens_before(self) -> int:
        """Tokens of the request as it came."""
        return self.plan.tokens_before

    @property
    def tokens_after(self) -> int:
        """Tokens of the request to send."""
        return self.plan.tokens_after


class ContextRuntime:
    """A loaded configuration."""

    def __init__(self, config: Configuration, summaries: Summaries | None = None) -> None:
        self.config = checked(config)
        self.summaries = summaries or Summaries()
        self._engines: dict[tuple[str, str | None], Engine] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(
        cls,
        source: str | Path | Mapping[str, Any] | Configuration,
        summarizer: Callable[[Range], str] | None = None,
        summaries: Mapping[str, str] | None = None,
    ) -> ContextRuntime:
        """Load a configuration from a path, a JSON text or a dictionary. ConfigError if it cannot be used.

        `summarizer` writes the summary of a range of messages, `summaries` are those written before, by the range's
        hash; both serve configurations whose strategy has `summary: model`.
        """
        return cls(load_config(source), Summaries(summarizer, summaries))

    def assemble(self, request: Mapping[str, Any], hints: Hints | Mapping[str, Any] | None = None) -> Result:
        """Return what to send for a request body that holds the full history. RequestError if it is no body."""
        return self.session().assemble(request, hints)

    def session(self) -> Session:
        """Return a session: the same results for growing requests, faster. One thread's."""
        return Session(self)

    def restore(self, span_id: str, request: Mapping[str, Any], hints: Hints | Mapping[str, Any] | None = None) -> str:
        """Return the text of a span of a request as it came: what stands behind a stub or a note that names it.

        A stub for several spans names the first and the last (`m1.0 to m4.0`); their texts come with an empty line
        between, and a line that says so for a span without text, such as a picture. RequestError if the request has
        no such span, if the two are the wrong way round, or if the span has no text.
        """
        if not isinstance(span_id, str):
            raise RequestError(f"A span is named by a text, such as 'm1.0', not by {span_id!r}.")
        plan = self.assemble(request, hints).plan
        spans = [*(plan.fixed.source or plan.fixed).spans]
        spans += (span for unit in plan.log.units for span in (unit.source or unit).spans)
        found = _named(span_id, spans)
        return "\n\n".join(f"[{span.id}: {span.kind}, no text]" if _has_no_text(span) else span.text for span in found)

    def engine(self, request: Mapping[str, Any]) -> Engine:
        """Return the engine for a request's dialect and model. RequestError if the configuration is for another."""
        named = self.config.model.dialect
        if named is not None:
            _refuse_other(request, named)
        key = (named or detect(request), _model(request))
        with self._lock:
            if key not in self._engines:
                if len(self._engines) > MOST_ENGINES:
                    self._engines.clear()
                self._engines[key] = Engine(self.config, *key, self.summaries)
            return self._engines[key]


MOST_ENGINES = 256
WITHOUT_TEXT = (SpanKind.IMAGE, SpanKind.OTHER, SpanKind.THINKING)
"""Kinds of spans that may hold something that is no text: a picture, a file, sealed reasoning."""


def _has_no_text(span: Span) -> bool:
    return not span.text and span.kind in WITHOUT_TEXT


def _named(span_id: str, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the span with an id, or the spans from one id to another."""
    ends = span_id.split(" to ")
    places = {span.id: place for place, span in enumerate(spans)}
    if len(ends) > 2 or not places.keys() >= set(ends):
        raise RequestError(f"This request has no span {span_id!r}; send the full history that the stub was made from.")
    found = spans[places[ends[0]] : places[ends[-1]] + 1]
    if not found:
        raise RequestError(f"The span {ends[0]} stands after {ends[1]}; ask for '{ends[1]} to {ends[0]}'.")
    if len(found) == 1 and _has_no_text(found[0]):
        raise RequestError(f"The span {found[0].id} ({found[0].kind}) has no text; take it from the request as it is.")
    return found


def _refuse_other(request: Mapping[str, Any], named: str) -> None:
    """Refuse a body of another dialect: its calls and results would not be seen, and could be parted."""
    seen = other_dialect(request, named)
    if seen is not None:
        written = " or ".join(map(repr, seen.dialects))
        raise RequestError(
            f"This request is of the dialect {written} (it has {seen.sign}), and the configuration is for {named!r}."
            f" Load a configuration for {written}, or set its `model.dialect` so."
        )


def _model(request: Mapping[str, Any]) -> str | None:
    model = request.get("model") if isinstance(request, Mapping) else None
    return model if isinstance(model, str) else None


class Session:
    """Assembles the growing requests of one conversation. What it remembers never changes a result."""

    def __init__(self, runtime: ContextRuntime) -> None:
        self._runtime = runtime
        self._start()

    def _start(self) -> None:
        self._feed = UnitFeed()
        self._planner = Planner()
        self._marks: list[bytes] = []
        self._texts: list[str] = []
        self._heads: set[bytes] = set()

    def assemble(self, request: Mapping[str, Any], hints: Hints | Mapping[str, Any] | None = None) -> Result:
        """Return what to send for a request body that holds the full history. RequestError if it is no body."""
        engine = self._runtime.engine(request)
        head, messages = engine.dialect.split(request)
        given, summaries = Hints.of(hints), self._runtime.summaries
        summaries.asked()  # what an earlier request asked for is not this one's
        try:
            plan = self._plan(engine, given, head, messages)
        except BaseException:
            self._start()  # what was read in part must not stand in a later prompt
            raise
        log_failures(plan, summaries.asked())
        return Result(apply(plan, request, engine.dialect), plan, given)

    def _plan(self, engine: Engine, hints: Hints, head: Wire, messages: Sequence[Wire]) -> Plan:
        try:
            key, shared = self._head(head), self._shared(messages, engine.dialect)
        except RecursionError:
            raise RequestError("The request is nested too deeply to be sent as JSON; flatten it.") from None
        except (TypeError, ValueError) as error:
            raise RequestError(
                f"The request holds what JSON cannot ({error}); turn objects of a client library into dictionaries."
            ) from error
        step = self._feed.read(engine, hints, head, key, shared, self._messages_from)
        return self._planner.plan(engine, step)

    def _head(self, head: Wire) -> bytes:
        """Return what tells this head from others."""
        found = mark(head)
        if found not in self._heads:
            dump(head)
            self._heads.add(found)
        return found

    def _shared(self, messages: Sequence[Wire], dialect: Dialect) -> int:
        """Take the messages, and return how many of them are those of the last request, in content."""
        marks = [mark(message) for message in messages]
        same = next(
            (place for place, pair in enumerate(zip(self._marks, marks, strict=False)) if pair[0] != pair[1]), None
        )
        shared = min(len(marks), len(self._marks)) if same is None else same
        texts = [*self._texts[:shared], *map(dump, messages[shared:])]
        for old, new, message in zip(self._texts[shared:], texts[shared:], messages[shared:], strict=False):
            if old != new and dialect.content_key(json.loads(old)) != dialect.content_key(message):
                break
            shared += 1
        self._marks, self._texts = marks, texts
        return shared

    def _messages_from(self, start: int) -> list[Wire]:
        # Read from texts, because a caller may change its own messages in place.
        return [json.loads(text) for text in self._texts[start:]]
