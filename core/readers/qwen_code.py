"""Sessions of Qwen Code: Claude Code's envelope around Gemini contents, with `uuid` and `parentUuid` as a tree.

Results are lines of their own; those of one reply are one content. A compression's record holds the whole history
that the model reads from there on. System prompt and tools are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .event_log import EventLog, Ignored, Position
from .fields import inner, listed, text, texts_of
from .figures import count
from .formats import Format, Reading, share
from .records import Record
from .responses import gemini_usage
from .sessions import one_session
from .shapes import is_content
from .times import parse_time

TYPES = ("user", "assistant", "tool_result", "system")
COMPRESSION = "chat_compression"


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a session of Qwen Code."""
    return 0.97 * share(values, _is_line) if any(map(_is_own, values)) else 0.0


@dataclass(slots=True)
class _Entry:
    """One message or compression, gathered from its lines."""

    value: Wire
    place: str
    parent: str
    parts: list[Any]
    is_results: bool = False


class _Session:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.ignored = Ignored(reading, frozenset({"system"}))
        self.session = ""
        self.title = ""
        self._entries: list[_Entry] = []
        self._by_uuid: dict[str, _Entry | str] = {}
        """The entry of each line; for a line that is no message, the line before it."""
        self._last = ""

    def take(self, record: Record) -> None:
        """Take one line in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        if not _is_line(value):
            expected = "An object with `type`, `uuid` and `message` was expected; it was left out."
            report.broken("this is no record of Qwen Code", expected, place=place)
            return
        self.session = text(value, "sessionId") or self.session
        uuid = text(value, "uuid") or place
        parent = self._last if "parentUuid" not in value else text(value, "parentUuid")
        if uuid in self._by_uuid:
            self.ignored.add("system/copy", place)
            return
        self._last = uuid
        if value["type"] == "system" and text(value, "subtype") != COMPRESSION:
            self._system(value, uuid, parent, place)
        elif value["type"] == "system" or isinstance(inner(value, "message").get("parts"), list):
            report.used()
            self._entry(value, uuid, parent, place)
        else:
            self._by_uuid[uuid] = parent
            expected = "An object `message` with `parts` was expected; it was left out."
            report.broken(f"the {value['type']} record has no message", expected, place=place)

    def _system(self, value: Wire, uuid: str, parent: str, place: str) -> None:
        self._by_uuid[uuid] = parent
        payload = inner(value, "systemPayload")
        if text(value, "subtype") == "custom_title" and text(payload, "customTitle", "title"):
            self.title = text(payload, "customTitle", "title")
            self.reading.report.used()
        else:
            self.ignored.add("/".join(filter(None, ("system", text(value, "subtype")))), place)

    def _entry(self, value: Wire, uuid: str, parent: str, place: str) -> None:
        parts = listed(inner(value, "message"), "parts")
        is_results = value["type"] == "tool_result" or _holds_results(parts)
        before = self._resolved(parent)
        if is_results and before is not None and before.is_results:
            before.parts += parts
            self._by_uuid[uuid] = before
            return
        entry = _Entry(value, place, parent, list(parts), is_results)
        self._entries.append(entry)
        self._by_uuid[uuid] = entry

    def _resolved(self, uuid: str) -> _Entry | None:
        """Return the entry that a line stands in or behind."""
        found: _Entry | str = uuid
        for _ in range(len(self._by_uuid) + 1):
            if not isinstance(found, str):
                return found
            found = self._by_uuid.get(found, "")
            if not found:
                return None
        return None

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session, if it holds messages."""
        ignored = self.ignored.tell()
        if not self._entries:
            return
        log = EventLog("gemini", self.reading)
        log.started = parse_time(self._entries[0].value.get("timestamp"))
        after: dict[int, Position] = {}
        for entry in self._entries:
            before = self._resolved(entry.parent)
            if before is not None and id(before) in after:
                log.at = after[id(before)]
            elif "parentUuid" in entry.value and entry.value["parentUuid"] is None:
                log.at = Position()
            _add(log, entry)
            after[id(entry)] = log.at
        first = next((entry for entry in self._entries if _is_typed(entry)), None)
        prompt = texts_of(first.parts) if first else ""
        yield log.transcript(title=self.title, session=self.session, prompt=prompt, meta=self._meta(ignored))

    def _meta(self, ignored: dict[str, int]) -> dict[str, Any]:
        newest = self._entries[-1].value
        windows = (count(entry.value.get("contextWindowSize")) for entry in reversed(self._entries))
        found = {
            "cwd": text(newest, "cwd"),
            "version": text(newest, "version"),
            "window": next(filter(None, windows), None),
            "ignored": ignored,
        }
        return {key: value for key, value in found.items() if value}


def _add(log: EventLog, entry: _Entry) -> None:
    value = entry.value
    if value["type"] == "system":
        history = listed(inner(value, "systemPayload"), "compressedHistory")
        log.compact([wire for wire in history if is_content(wire)])
    elif value["type"] == "assistant":
        usage, model = gemini_usage(value.get("usageMetadata")), text(value, "model")
        wire = {"role": "model", "parts": entry.parts}
        log.reply([wire], entry.place, usage=usage, model=model, at=parse_time(value.get("timestamp")))
    elif entry.parts:
        log.say({"role": "user", "parts": entry.parts}, entry.place)


def _is_typed(entry: _Entry) -> bool:
    return entry.value["type"] == "user" and not entry.is_results and bool(texts_of(entry.parts).strip())


def _holds_results(parts: Sequence[Any]) -> bool:
    return any(isinstance(part, Mapping) and "functionResponse" in part for part in parts)


def _is_line(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") in TYPES and "sessionId" in value


def _is_own(value: Any) -> bool:
    """Tell whether a value can only be a line of Qwen Code: a message with parts."""
    return _is_line(value) and isinstance(inner(value, "message").get("parts"), list)


FORMAT = Format("qwen_code", "Qwen Code sessions", sniff, one_session(_Session))
