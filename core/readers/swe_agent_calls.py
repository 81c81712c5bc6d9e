"""The calls of one SWE-agent run: what happened is its history, what was sent is in the lists that its steps keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..transcript import ROOT, Fidelity, Transcript
from ..wire import Wire
from .builder import TranscriptBuilder
from .chat_wire import decoded
from .checks import MessageChecks
from .fields import inner, objects, text
from .formats import Reading
from .rows import within
from .titles import shortened, title_of

NO_MODEL = frozenset({"replay", "human", "human_thought", "instant_empty_submit"})
"""Names under which SWE-agent runs without a model."""
STATISTICS = ("tokens_sent", "tokens_received", "api_calls", "instance_cost")
UNKNOWN_PROCESSORS = (
    "what was sent is not recorded step by step: old observations stand here in full, and may have been shortened"
)


def agent_transcripts(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    """Yield a transcript for each agent that the history names, the main one first."""
    history = [entry for entry in objects(row, "history") if isinstance(entry.get("role"), str)]
    steps = objects(row, "trajectory")
    if not history:
        history = _history_of(steps)
    names = list(dict.fromkeys(text(entry, "agent") for entry in history))
    for number, name in enumerate(names):
        own = [entry for entry in history if text(entry, "agent") == name]
        made = _Run(reading, row, own, steps if not number else []).transcript(name, number, place)
        if made is not None:
            yield made


class _Run:
    """One agent's run. `prompts` are the messages sent for each call, where they are recorded."""

    def __init__(self, reading: Reading, row: Wire, history: Sequence[Wire], steps: Sequence[Wire]) -> None:
        self.reading = reading
        self.row = row
        self.history = history
        self.replies = [at for at, entry in enumerate(history) if _is_reply(entry)]
        self.prompts = _prompts(steps, len(self.replies))
        self.config = decoded(row.get("replay_config"))
        self.builder = TranscriptBuilder("openai_chat")

    def transcript(self, name: str, number: int, place: str) -> Transcript | None:
        """Return the run; None if it holds no message."""
        wires = [wire_of(entry) for entry in self.history]
        self._check(wires, place)
        self._calls(wires)
        if not self.builder.messages:
            return None
        title = shortened(text(inner(self.config, "problem_statement"), "id"))
        return self.builder.build(
            title=title or title_of(self.builder.dialect, self.builder.messages, self.reading.stem or "run"),
            format=self.reading.report.format or "",
            source=self.reading.name,
            session=self._session(name, number),
            notes=self._notes(),
            meta=self._meta(name, number),
        )

    def _calls(self, wires: Sequence[Wire]) -> None:
        head, conversation = self.builder.dialect.split({"messages": wires})
        happened = self.builder.chain(self.builder.head(head), conversation).nodes
        lead = len(wires) - len(conversation)
        for call, at in enumerate(self.replies):
            sent = self.prompts.get(call)
            body = {**({"model": self.model} if self.model else {}), "messages": sent if sent else wires[:at]}
            self.builder.call(
                self.builder.body(body),
                history=happened[at - lead - 1] if at > lead else ROOT,
                response=wires[at],
                model=self.model,
                fidelity=self._fidelity(bool(sent) or call == 0),
            )

    def _meta(self, name: str, number: int) -> dict[str, Any]:
        """Return how the run ended and what it used; of a second agent, whose it is."""
        info, instance = inner(self.row, "info"), text(self.row, "environment", "instance_id")
        totals = inner(info, "model_stats") if not number else {}
        return {
            **{key: info[key] for key in ("exit_status", "swe_agent_version") if info.get(key) is not None},
            **{key: totals[key] for key in STATISTICS if totals.get(key) is not None},
            **({"environment": instance} if instance else {}),
            **({"agent": name, "parent_session": self._session("", 0)} if number else {}),
        }

    @property
    def model(self) -> str | None:
        """The model's name, if a model was asked."""
        name = text(inner(self.config, "agent", "model"), "name")
        return name if name and name not in NO_MODEL else None

    @property
    def _calls_functions(self) -> bool:
        kind = text(inner(self.config, "agent", "tools", "parse_function"), "type")
        return kind == "function_calling" or any(entry.get("tool_calls") for entry in self.history)

    def _session(self, name: str, number: int) -> str:
        base = text(inner(self.config, "problem_statement"), "id") or self.reading.stem
        return f"{base}/{name}" if number else base

    def _fidelity(self, recorded: bool) -> Fidelity:
        if self._calls_functions:
            return Fidelity.PARTIAL
        return Fidelity.CAPTURED if recorded and self.prompts else Fidelity.RECONSTRUCTED

    def _notes(self) -> list[str]:
        notes = []
        if not any(self.builder.dialect.system_texts(head) for head in self.builder.heads):
            notes.append("system prompt not recorded")
        if self._calls_functions:
            notes.append("tool definitions not recorded")
        if not self.prompts and len(self.replies) > 1:
            notes.append(UNKNOWN_PROCESSORS)
        differ = [at for at, call in enumerate(self.builder.calls) if call.captured != call.history]
        if differ:
            notes.append(f"old observations were shortened before they were sent, from call {differ[0] + 1} on")
        return notes

    def _check(self, wires: Sequence[Wire], place: str) -> None:
        checks = MessageChecks(self.builder.dialect)
        for number, wire in enumerate(wires, 1):
            for problem, expected in checks.problems(wire):
                here = within(place, f"history {number}")
                self.reading.report.add(problem, expected, place=here, warning=True)


def wire_of(entry: Wire) -> dict[str, Any]:
    """Return an entry of a history as SWE-agent sends it."""
    wire: dict[str, Any] = {"role": entry["role"], "content": entry.get("content")}
    ids = entry.get("tool_call_ids")
    if entry["role"] == "tool" and isinstance(ids, list) and ids:
        wire["tool_call_id"] = ids[0]
    for key in ("tool_calls", "thinking_blocks", "cache_control"):
        if entry.get(key):
            wire[key] = entry[key]
    return wire


def _prompts(steps: Sequence[Wire], calls: int) -> dict[int, list[Wire]]:
    """Return the messages that calls were sent, by number: a list that holds n replies is the prompt of call n."""
    found: dict[int, list[Wire]] = {}
    for step in steps:
        entries = objects(step, "query") or objects(step, "messages")
        entries = [entry for entry in entries if isinstance(entry.get("role"), str)]
        call = sum(map(_is_reply, entries))
        if entries and call < calls:
            found[call] = [wire_of(entry) for entry in entries]
    return found


def _is_reply(entry: Wire) -> bool:
    """Tell whether a model wrote an entry in this run; demonstrations show another one."""
    return (
        entry.get("role") == "assistant" and not entry.get("is_demo") and entry.get("message_type") != "demonstration"
    )


def _history_of(steps: Sequence[Wire]) -> list[Wire]:
    """Return what happened where only the steps say so."""
    for step in reversed(steps):
        if entries := objects(step, "query") or objects(step, "messages"):
            return [entry for entry in entries if isinstance(entry.get("role"), str)]
    found: list[Wire] = []
    for step in steps:
        for key, role in (("response", "assistant"), ("observation", "user")):
            if isinstance(step.get(key), str):
                found.append({"role": role, "content": step[key]})
    return found
