"""Captured calls, each put at the end of the transcript that it continues.

A call belongs to the run of its session; without one, to the newest run whose prompt it repeats and goes on from.
The runs that grew last stay in memory. One is used only while the database names and counts what it holds, so
another process may write the same run, and a write that failed is forgotten.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from core.dialects import Dialect
from core.dropped_content import ContentDropper, is_dropped, without_content
from core.dropped_parts import dropped_part
from core.identity import Ledger, content_of, first_sha256, next_sha256
from core.readers.figures import doubts
from core.readers.responses import ResponseFacts, response_facts
from core.readers.run import Run
from core.readers.titles import shortened, title_of
from core.redact import SECRETS_ONLY, Privacy, mask
from core.wire import Wire

from .content_key import LibraryDropper
from .continuation import Prompt, continued
from .database import Writer
from .known_responses import Completion, KnownResponses, Place
from .masking import RequestMasker
from .records import Batch, chains, counts, insert_new, load_transcript, text_of_json
from .schema import CallRow, Content, TranscriptRow

__all__ = ["Appended", "Exchange", "Recorder"]

CAPTURE = "capture"
LIVE_RUNS = 16
MOST_FAILURES = 20
"""Failed calls that a transcript's notes name."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request body as it was sent and the response to it, if there was one."""

    request: Wire
    response: Wire | None = None
    session: str = ""
    hints: Mapping[str, Any] | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a captured call was stored, and how many secrets of each kind were replaced in what was sent."""

    transcript: int
    call: int
    masked: Mapping[str, int]
    remarks: tuple[str, ...] = ()
    """What the usage of the response says and cannot be true, and what it lacks of its stream, in sentences."""


class Recorder:
    """Appends captured calls. The writer lets one thread in at a time, which also protects the runs in memory."""

    def __init__(self, writer: Writer, dropper: LibraryDropper, privacy: Privacy = SECRETS_ONLY) -> None:
        self.writer = writer
        self._privacy = privacy
        self._masker = RequestMasker(privacy)
        self._dropper = dropper
        self._live: OrderedDict[int, _LiveRun] = OrderedDict()
        self._responses = KnownResponses()

    def append(self, exchange: Exchange) -> Appended:
        """Mask and store an exchange. RequestError if its request is no body of a known dialect."""
        sent = self._masker.mask(exchange.request)
        rest = mask([exchange.response, exchange.session, exchange.hints], self._privacy)
        response, session, hints = rest.value
        facts = response_facts(response)
        prompt = Prompt.of(sent.request, sent.keys, facts.dialect)
        if self._privacy.content:
            dropper = self._dropper()
            prompt, facts = prompt.without_content(dropper), _without_content(facts, prompt.dialect, dropper)
            response, hints = dropped_part(response), None
        with self.writer.transaction() as connection:
            prompt, before = self._completed(connection, prompt)
            row = _home(connection, prompt, session, before)
            live = self._live_run(connection, row)
            call = live.add(prompt, facts, exchange.at or datetime.now(UTC), hints, before is not None)
            if response is not None and facts.message is None:
                live.fail(call, response)
            live.write(connection, row)
        self._responses.remember(facts, Place(row.id, call))
        masked = dict(sorted((Counter(sent.found) + Counter(rest.found)).items()))
        return Appended(live.id, call, masked, _remarks(facts))

    def forget(self, transcript_id: int) -> None:
        """Let go of a run that is being deleted. Called while writing."""
        self._live.pop(transcript_id, None)

    def _completed(self, connection: Connection, prompt: Prompt) -> tuple[Prompt, Any]:
        """Return a prompt with what the provider keeps before it, and the row of the run where that was captured."""
        place = self._responses.before(prompt)
        row = None if place is None else _locked(connection, TranscriptRow.id == place.transcript)
        if place is None or row is None:
            return prompt, None
        return self._live_run(connection, row).before(prompt, place.call), row

    def _live_run(self, connection: Connection, row: Any) -> _LiveRun:
        """Return the run of a transcript, from memory if nothing else has written it."""
        live = self._live.pop(row.id, None)
        if live is None or not live.fits(row):
            live = _LiveRun(row, Run.resumed(load_transcript(connection, row)))
        self._live[row.id] = live
        if len(self._live) > LIVE_RUNS:
            self._live.popitem(last=False)
        return live


class _LiveRun:
    """A captured transcript in memory: the run, what of it is written, and how each entry changed its name."""

    def __init__(self, row: Any, run: Run) -> None:
        self.id: int = row.id
        self._run, self._builder = run, run.builder
        self._completion = Completion(run.builder)
        self._failures = [note for note in json.loads(row.notes) if note.startswith("call ") and " failed: " in note]
        self._chains = chains(row.dialect, self._builder)
        self._ledger = Ledger()
        self._names = [first_sha256(row.dialect, row.session)]
        self._records: list[str] = []
        self._answered: int | None = None
        self._written = self._counts()
        for entry in self._ledger.entries(self._builder):
            self._records.append(entry.record)
        self._rename(0)

    def fits(self, row: Any) -> bool:
        """Tell whether the database holds just what is in memory."""
        stored = (row.sha256, row.message_count, row.call_count)
        return stored == (self._names[-1], len(self._builder.messages), len(self._builder.calls))

    def before(self, prompt: Prompt, call: int) -> Prompt:
        """Return a prompt with what stands before it where it goes on from the response of a call."""
        return self._completion.prompt(prompt, call)

    def add(
        self,
        prompt: Prompt,
        facts: ResponseFacts,
        at: datetime,
        hints: Mapping[str, Any] | None,
        is_completed: bool,
    ) -> int:
        """Add a call and return its index. `is_completed` if what the provider keeps was put before what was sent."""
        step = self._run.add(
            prompt.head,
            prompt.wires,
            prompt.keys,
            response=facts.message,
            usage=facts.usage,
            model=facts.model or prompt.model,
            at=at,
            hints=hints,
            completed=is_completed,
        )
        self._answered = step.answered
        return step.call

    def fail(self, call: int, response: Any) -> None:
        """Note a call whose response is no message."""
        if len(self._failures) < MOST_FAILURES:
            self._failures.append(f"call {call + 1} failed: {shortened(text_of_json(response))}")

    def write(self, connection: Connection, row: Any) -> None:
        """Write what was added, and the transcript's new name and counts."""
        heads, messages, calls = self._written
        self._chains = chains(row.dialect, self._builder, self._chains)
        batch = Batch(self.id, self._chains, heads, messages, calls)
        for entry in self._ledger.entries(self._builder):
            batch.add(entry)
            self._records.append(entry.record)
        batch.insert(connection)
        if self._answered is not None:
            self._write_answer(connection, self._answered)
        self._rename(calls if self._answered is None else self._answered)
        connection.execute(update(TranscriptRow).where(TranscriptRow.id == self.id).values(self._columns(row)))
        self._written = self._counts()

    def _columns(self, row: Any) -> dict[str, Any]:
        first = next((call.at for call in self._builder.calls if call.at is not None), None)
        return {
            "sha256": self._names[-1],
            "title": row.title or self._title(row.session),
            "notes": text_of_json([*self._run.notes(), *self._failures]),
            "started": first,
            "updated_at": datetime.now(UTC),
            **counts(self._builder),
        }

    def _title(self, session: str) -> str:
        messages = self._builder.messages
        if messages and is_dropped(messages[0]):
            return without_content(CAPTURE)
        return title_of(self._builder.dialect, messages, session or "captured run")

    def _write_answer(self, connection: Connection, call: int) -> None:
        """Give an earlier call the response that this one made known."""
        content = content_of(self._builder.calls[call].response)
        connection.execute(insert_new(connection, Content), [{"hash": content.hash, "json": content.text}])
        of_call = (CallRow.transcript_id == self.id) & (CallRow.position == call)
        connection.execute(update(CallRow).where(of_call).values(response=content.hash))

    def _rename(self, first: int) -> None:
        """Compute the transcript's names anew from an entry on."""
        del self._names[first + 1 :]
        for record, call in zip(self._records[first:], self._builder.calls[first:], strict=True):
            response = None if call.response is None else content_of(call.response).hash
            self._names.append(next_sha256(self._names[-1], record, response))

    def _counts(self) -> tuple[int, int, int]:
        return len(self._builder.heads), len(self._builder.messages), len(self._builder.calls)


def _without_content(facts: ResponseFacts, spoken: Dialect, dropper: ContentDropper) -> ResponseFacts:
    message = None if facts.message is None else dropper.message(spoken, facts.message)
    return replace(facts, message=message)


def _remarks(facts: ResponseFacts) -> tuple[str, ...]:
    told = (*doubts(facts.usage), *facts.remarks)
    return tuple(f"{problem[:1].upper()}{problem[1:]}. {expected}" for problem, expected in told)


def _home(connection: Connection, prompt: Prompt, session: str, before: Any) -> Any:
    """Return the row of the transcript that a call belongs to, locked; a new one where there is none.

    `before` is the row of the run whose response the call names; one with a session's name holds what names it too.
    """
    if session:
        key = f"{prompt.dialect.name}:{session}"
        found = _locked(connection, TranscriptRow.capture_key == key)
        return found if found is not None else _new_row(connection, prompt, key, session)
    if before is not None and not before.session:
        return before
    known = continued(connection, prompt)
    found = None if known is None else _locked(connection, TranscriptRow.id == known)
    key = f"{prompt.dialect.name}#{secrets.token_hex(16)}"
    return found if found is not None else _new_row(connection, prompt, key, session)


def _new_row(connection: Connection, prompt: Prompt, key: str, session: str) -> Any:
    """Insert an empty captured transcript; on PostgreSQL another process may have just done so."""
    now = datetime.now(UTC)
    values = {
        "sha256": first_sha256(prompt.dialect.name, session),
        "capture_key": key,
        "dialect": prompt.dialect.name,
        "format": CAPTURE,
        "source": CAPTURE,
        "session": session,
        "title": "",
        "imported_at": now,
        "updated_at": now,
    }
    connection.execute(insert_new(connection, TranscriptRow), values)
    return _locked(connection, TranscriptRow.capture_key == key)


def _locked(connection: Connection, condition: ColumnElement[bool]) -> Any:
    return connection.execute(select(TranscriptRow.__table__).where(condition).with_for_update()).first()
