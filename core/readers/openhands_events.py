"""OpenHands events as messages, as its agent turns them into prompts.

An action that a model asked for keeps the model's whole response, so the reply is that response's message, once for
all actions it led to, with its usage. An observation is the result of its action. Where old files keep no responses,
calls and results are the texts in which the agent of that time wrote them. A condensation takes events out of the
window and puts a summary in; what an agent delegated to another one is a transcript of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .formats import Reading
from .openhands_texts import action_text, observation_text, recalled_text
from .responses import openai_usage
from .rows import within
from .times import parse_time

NO_MESSAGE = frozenset({"null", "recall", "change_agent_state", "agent_state_changed", "condensation_request", "start"})
"""Actions and observations that are never part of a prompt."""
RECALLED = "context that was recalled is rebuilt from its parts, not as it was worded"
NO_RESPONSES = "the model's responses are not recorded: calls and results are texts rebuilt from actions"
SUMMARY = "<CONVERSATION SUMMARY>\n{}\n</CONVERSATION SUMMARY>"


def read_events(reading: Reading, events: Sequence[Any], row: Wire, place: str) -> Iterator[Transcript]:
    """Yield the transcript of a run, then those of the agents that it delegated to."""
    run = _Run(reading, row)
    for number, event in enumerate(events, 1):
        here = within(place, f"event {number}")
        if isinstance(event, Mapping):
            run.take(event, here)
        else:
            reading.report.add("the event is no object", "It was left out.", place=here)
    yield from run.transcripts()


class _Agent:
    """One agent's part of a run: its messages, which of them came from which events, and what it waits for."""

    def __init__(self, reading: Reading, model: str, name: str, meta: Mapping[str, Any]) -> None:
        self.log = EventLog("openai_chat", reading)
        self.log.may_have_tools = False
        self.model = model
        self.name = name
        self.meta = dict(meta)
        self.responses: dict[str, set[Any]] = {}
        """By the id of a response: the events that its message stands for."""
        self.window: list[tuple[set[Any], Wire]] = []
        """The messages in the window, each with the events that it stands for."""

    def say(self, wire: Wire, event: Wire, place: str) -> None:
        """Add a message that stands for an event."""
        self.log.say(wire, place)
        self.window.append(({_id(event)}, wire))


class _Run:
    def __init__(self, reading: Reading, row: Wire) -> None:
        self.reading = reading
        self.row = row
        self.ignored: Counter[str] = Counter()
        self._usages = _usages(row)
        self._model = text(inner(row, "metadata", "llm_config"), "model")
        self._agents = [_Agent(reading, self._model, "", {})]
        self._stack = [self._agents[0]]

    @property
    def agent(self) -> _Agent:
        """The agent that works now."""
        return self._stack[-1]

    def take(self, event: Wire, place: str) -> None:
        """Take an event in."""
        at = parse_time(event.get("timestamp"))
        self.agent.log.started = self.agent.log.started or at
        if isinstance(event.get("action"), str):
            self._action(event["action"], event, place)
        elif isinstance(event.get("observation"), str):
            self._observation(event["observation"], event, place)
        else:
            self.reading.report.add("the event is no action and no observation", "It was left out.", place=place)

    def _action(self, kind: str, event: Wire, place: str) -> None:
        agent, arguments = self.agent, inner(event, "args")
        if kind == "system":
            self._system(arguments)
        elif kind == "condensation":
            self._condense(arguments)
        elif kind in NO_MESSAGE:
            self.ignored[kind] += 1
        elif kind == "message" and self._is_users(event):
            agent.say({"role": "user", "content": _said(event)}, event, place)
        else:
            self._reply(kind, event, place)
        if kind == "delegate":
            self._delegate(arguments)

    def _is_users(self, event: Wire) -> bool:
        if isinstance(event.get("source"), str):
            return bool(event["source"] == "user")
        last = self.agent.window[-1][1] if self.agent.window else {"role": "assistant"}
        return last["role"] == "assistant" and not objects(last, "tool_calls")

    def _system(self, arguments: Wire) -> None:
        agent = self.agent
        agent.log.lead({"role": "system", "content": text(arguments, "content")})
        if tools := objects(arguments, "tools"):
            agent.log.settings["tools"] = tools

    def _reply(self, kind: str, event: Wire, place: str) -> None:
        agent = self.agent
        response = inner(event, "tool_call_metadata", "model_response")
        name = text(response, "id")
        if name and name in agent.responses:
            agent.responses[name].add(_id(event))
            return
        agent.responses[name] = stands_for = {_id(event)}
        wire = _message(response) or {"role": "assistant", "content": action_text(kind, event)}
        agent.log.may_have_tools = agent.log.may_have_tools or bool(objects(wire, "tool_calls"))
        usage = openai_usage(response.get("usage") or self._usages.get(name))
        agent.log.reply(
            [wire],
            place,
            usage=usage,
            model=text(response, "model") or agent.model,
            at=parse_time(response.get("created")) or parse_time(event.get("timestamp")),
            fidelity=self._fidelity(),
        )
        agent.window.append((stands_for, wire))

    def _fidelity(self) -> Fidelity:
        log = self.agent.log
        whole = log.at.lead and log.settings.get("tools")
        return Fidelity.RECONSTRUCTED if whole else Fidelity.PARTIAL

    def _observation(self, kind: str, event: Wire, place: str) -> None:
        if kind == "delegate" and len(self._stack) > 1:
            self._stack.pop()
        agent = self.agent
        call_id = text(inner(event, "tool_call_metadata"), "tool_call_id")
        if kind == "recall":
            said = recalled_text(event)
            if said:
                agent.log.notes += [RECALLED] if RECALLED not in agent.log.notes else []
                agent.say({"role": "user", "content": said}, event, place)
        elif kind in NO_MESSAGE and not call_id:
            self.ignored[kind] += 1
        elif call_id:
            wire = {"role": "tool", "tool_call_id": call_id, "content": observation_text(kind, event)}
            agent.say(wire, event, place)
        else:
            said = f"OBSERVATION:\n{observation_text(kind, event)}"
            agent.say({"role": "user", "content": said}, event, place)

    def _condense(self, arguments: Wire) -> None:
        """Take forgotten events out of the window, and put their summary where it was put."""
        agent = self.agent
        gone = {event for event in listed(arguments, "forgotten_event_ids") if isinstance(event, str | int)}
        first, last = arguments.get("forgotten_events_start_id"), arguments.get("forgotten_events_end_id")
        if isinstance(first, int) and isinstance(last, int) and last - first < 1_000_000:
            gone |= set(range(first, last + 1))
        agent.window = [(events, wire) for events, wire in agent.window if not events <= gone]
        summary, offset = text(arguments, "summary"), arguments.get("summary_offset")
        if summary:
            place = (
                offset if isinstance(offset, int) and 0 <= offset <= len(agent.window) else min(1, len(agent.window))
            )
            agent.window.insert(place, (set(), {"role": "user", "content": SUMMARY.format(summary)}))
        agent.log.rewrite([wire for _, wire in agent.window], "the conversation was compacted")

    def _delegate(self, arguments: Wire) -> None:
        name = text(arguments, "agent") or "delegate"
        meta = {"agent": name, "parent_session": self._session(self._agents[0])}
        self._agents.append(_Agent(self.reading, self.agent.model, f"{name} {len(self._agents)}", meta))
        self._stack.append(self._agents[-1])

    def _session(self, agent: _Agent) -> str:
        base = text(self.row, "instance_id") or self.reading.stem
        return f"{base}/{agent.name}" if agent.name else base

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the run, then what was delegated."""
        for agent in self._agents:
            log = agent.log
            if not log.builder.messages and not log.calls:
                continue
            main = agent is self._agents[0]
            if list(agent.responses) == [""]:
                log.notes.append(NO_RESPONSES)
            title = text(self.row, "instance_id") if main else ""
            meta = {**agent.meta, **(self._meta() if main else {})}
            yield log.transcript(title=title, session=self._session(agent), meta=meta)

    def _meta(self) -> dict[str, Any]:
        kept = {"error": self.row.get("error"), "cost": inner(self.row, "metrics").get("accumulated_cost")}
        kept |= {"agent_class": inner(self.row, "metadata").get("agent_class"), "ignored": dict(self.ignored)}
        return {key: value for key, value in kept.items() if value not in (None, {}, "")}


def _usages(row: Wire) -> dict[str, Wire]:
    """Return the usage that the row's metrics keep for each response, by the names that responses use."""
    found: dict[str, Wire] = {}
    for usage in objects(inner(row, "metrics"), "token_usages"):
        renamed = {"cache_read_input_tokens": "cache_read_tokens", "cache_creation_input_tokens": "cache_write_tokens"}
        found[text(usage, "response_id")] = {**usage, **{new: usage.get(old) for new, old in renamed.items()}}
    return found


def _id(event: Wire) -> str | int | None:
    name = event.get("id")
    return name if isinstance(name, str | int) else None


def _message(response: Wire) -> Wire | None:
    """Return the message of a response as it is sent back; None where there is none."""
    for choice in objects(response, "choices"):
        message = inner(choice, "message")
        if message.get("content") is not None or objects(message, "tool_calls"):
            kept = {key: value for key, value in message.items() if value is not None or key == "content"}
            return {**kept, "role": "assistant"}
    return None


def _said(event: Wire) -> Any:
    arguments = inner(event, "args")
    said = text_of(arguments.get("content", event.get("content", event.get("message"))))
    images = [url for url in listed(arguments, "image_urls") if isinstance(url, str)]
    if not images:
        return said
    return [{"type": "text", "text": said}, *({"type": "image_url", "image_url": {"url": url}} for url in images)]
