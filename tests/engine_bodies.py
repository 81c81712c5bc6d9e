"""Random request bodies of both dialects: what agents really send, and what broken logs hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Wire = dict[str, Any]

DIALECTS = ("openai_chat", "anthropic")

TEXTS = st.sampled_from(
    [
        "ok",
        "好的",
        "Please run Python on the list",
        "帮我翻一下接口文档，结果一共 63 条。",
        "KEEP this: order A-1009 was paid on 2026-03-04",
        "lone \ud83d surrogate and 😀 together",
        "# Rules\n1. Be brief.\n2. Cite.\n\n<examples>\nQ: a\n</examples>\nEnd",
        "磁盘已用 85%，剩 12GB，先不用扩。" * 6,
        "the build failed at step 7 with error E0432 in /srv/app/main.rs " * 8,
        "[summary] asked about disks… (was ~90 tokens)",
        "[Earlier conversation]\n[user]: hello",
        "[left out: m3.0, 90 tokens of search; the newest results took the room]",
        '{"rows": [1, 2.5, null], "ok": true, "名": "值"}',
        " \n",
    ]
)
CONTENT = st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(["", None]))
NAMES = st.sampled_from(["search_docs", "run_python", "calendar", "read"])
ARGUMENTS = st.sampled_from(
    [{}, {"path": "/srv"}, {"q": "文档", "n": 3, "deep": {"a": [1, None]}}, {"code": "print(1)\n" * 12}]
)
MODELS = ["gpt-4o", "gpt-4", "claude-opus-4-7"]
MARK = {"type": "ephemeral"}
PICTURE = "data:image/png;base64,iVBORw0KGgo="


class Ids:
    """Call ids, nearly always new ones."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self.used: list[str] = []

    def new(self) -> str:
        if self.used and self._draw(st.integers(0, 11)) == 0:
            return str(self._draw(st.sampled_from(self.used)))
        self.used.append(f"c{len(self.used)}")
        return self.used[-1]

    def any(self) -> str:
        return str(self._draw(st.sampled_from([*self.used, "unknown"])))


def _openai_call(call_id: str, name: str, arguments: Any) -> Wire:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _openai_parts(draw: Any, text: str | None) -> Any:
    """A text as a string, mostly; else as a list of parts, perhaps with an image or a cache mark."""
    shape = draw(st.integers(0, 9)) if text else 9
    if shape == 0:
        return [{"type": "text", "text": text}]
    if shape == 1:
        return [{"type": "text", "text": text}, {"type": "text", "text": " more", "cache_control": MARK}]
    if shape == 2:
        return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    return text


class OpenAI:
    """Writes events as messages of OpenAI chat."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.ids = draw, Ids(draw)

    def user(self) -> list[Wire]:
        message = {"role": "user", "content": _openai_parts(self.draw, self.draw(CONTENT))}
        return [{**message, "name": "ann"} if self.draw(st.integers(0, 9)) == 0 else message]

    def assistant(self) -> list[Wire]:
        message = {"role": "assistant", "content": self.draw(CONTENT)}
        return [{**message, "reasoning_content": "let me see"} if self.draw(st.integers(0, 5)) == 0 else message]

    def _calls(self, count: int) -> Wire:
        calls = [_openai_call(self.ids.new(), self.draw(NAMES), self.draw(ARGUMENTS)) for _ in range(count)]
        return {
            "role": "assistant",
            "content": self.draw(st.sampled_from([None, "", "I will look."])),
            "tool_calls": calls,
        }

    def _result(self, call_id: str) -> Wire:
        return {"role": "tool", "tool_call_id": call_id, "content": _openai_parts(self.draw, self.draw(CONTENT))}

    def step(self) -> list[Wire]:
        calls = self._calls(self.draw(st.integers(1, 3)))
        return [calls, *(self._result(call["id"]) for call in calls["tool_calls"])]

    def unanswered(self) -> list[Wire]:
        return self.step()[: self.draw(st.integers(1, 2))]

    def late(self) -> list[Wire]:
        calls, *results = self.step()
        return [calls, *results[1:], *self.user(), results[0]]

    def orphan(self) -> list[Wire]:
        return [self._result(self.ids.any())]

    def legacy(self) -> list[Wire]:
        call = {"role": "assistant", "content": None, "function_call": {"name": self.draw(NAMES), "arguments": "{}"}}
        return [call, {"role": "function", "name": call["function_call"]["name"], "content": self.draw(TEXTS)}]

    def system(self) -> list[Wire]:
        role = self.draw(st.sampled_from(["system", "developer"]))
        return [{"role": role, "content": _openai_parts(self.draw, self.draw(CONTENT))}]

    def odd(self) -> list[Wire]:
        return [
            self.draw(
                st.sampled_from(
                    [
                        {"role": "critic", "content": "hm"},
                        {"content": "no role"},
                        {"role": "user", "content": {"unexpected": True}},
                        {"role": "user", "content": []},
                        {"role": "assistant", "content": 7},
                        {"role": "user", "content": ["bare", {"type": "mystery"}, {"type": "text", "text": ""}]},
                    ]
                )
            )
        ]

    def tool(self, name: str) -> Wire:
        schema = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for"}}}
        return {
            "type": "function",
            "function": {"name": name, "description": f"{name}: " + "x " * 40, "parameters": schema},
        }

    def body(self, systems: list[Any], messages: list[Wire], tools: list[Wire]) -> Wire:
        lead = [{"role": "system", "content": content} for content in systems]
        return {"model": "gpt-4o", "messages": [*lead, *messages], **({"tools": tools} if tools else {}), "seed": 1}


class Anthropic:
    """Writes events as messages of Anthropic."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.ids = draw, Ids(draw)

    def _content(self, text: str | None) -> Any:
        shape = self.draw(st.integers(0, 9)) if text else 9
        block = {"type": "text", "text": text}
        if shape == 0:
            return [block]
        if shape == 1:
            return [block, {"type": "text", "text": " more", "cache_control": MARK}]
        if shape == 2:
            source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
            return [block, {"type": "image", "source": source}]
        return text

    def user(self) -> list[Wire]:
        return [{"role": "user", "content": self._content(self.draw(CONTENT))}]

    def assistant(self) -> list[Wire]:
        return [{"role": "assistant", "content": self.draw(CONTENT)}]

    def _calls(self, count: int) -> Wire:
        blocks: list[Wire] = []
        if self.draw(st.integers(0, 3)) == 0:
            blocks.append({"type": "thinking", "thinking": "so far so good", "signature": "c2ln"})
        if self.draw(st.integers(0, 3)) == 0:
            blocks.append({"type": "text", "text": "I will look."})
        for _ in range(count):
            blocks.append(
                {"type": "tool_use", "id": self.ids.new(), "name": self.draw(NAMES), "input": self.draw(ARGUMENTS)}
            )
        return {"role": "assistant", "content": blocks}

    def _result(self, call_id: str) -> Wire:
        return {"type": "tool_result", "tool_use_id": call_id, "content": self._content(self.draw(CONTENT))}

    def step(self, extra: list[Wire] | None = None) -> list[Wire]:
        calls = self._calls(self.draw(st.integers(1, 3)))
        ids = [block["id"] for block in calls["content"] if block["type"] == "tool_use"]
        return [calls, {"role": "user", "content": [*(self._result(call_id) for call_id in ids), *(extra or [])]}]

    def mixed(self) -> list[Wire]:
        return self.step([{"type": "text", "text": self.draw(TEXTS)}])

    def unanswered(self) -> list[Wire]:
        return self.step()[:1]

    def late(self) -> list[Wire]:
        calls, results = self.step()
        return [calls, *self.user(), results]

    def orphan(self) -> list[Wire]:
        return [{"role": "user", "content": [self._result(self.ids.any())]}]

    def legacy(self) -> list[Wire]:
        search = {"type": "server_tool_use", "id": self.ids.new(), "name": "web_search", "input": {"query": "x"}}
        found = {
            "type": "web_search_tool_result",
            "tool_use_id": search["id"],
            "content": [{"type": "web", "url": "u"}],
        }
        return [{"role": "assistant", "content": [search, found, {"type": "text", "text": "found it"}]}]

    def system(self) -> list[Wire]:
        return [{"role": "system", "content": self.draw(TEXTS)}]

    def odd(self) -> list[Wire]:
        return [
            self.draw(
                st.sampled_from(
                    [
                        {"role": "critic", "content": "hm"},
                        {"role": "user", "content": []},
                        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "zzzz"}]},
                        {"role": "user", "content": [{"type": "document", "source": {}}, {"type": "mystery"}]},
                        {"role": "assistant", "content": 7},
                    ]
                )
            )
        ]

    def tool(self, name: str) -> Wire:
        schema = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for"}}}
        return {"name": name, "description": f"{name}: " + "x " * 40, "input_schema": schema}

    def body(self, systems: list[Any], messages: list[Wire], tools: list[Wire]) -> Wire:
        body: Wire = {"model": "claude-sonnet-4-5", "max_tokens": 100}
        if systems:
            body["system"] = systems[0] if len(systems) == 1 else [{"type": "text", "text": text} for text in systems]
        return {**body, "messages": messages, **({"tools": tools} if tools else {})}


WRITERS: dict[str, type[OpenAI] | type[Anthropic]] = {"openai_chat": OpenAI, "anthropic": Anthropic}

_COMMON = ["user", "user", "assistant", "assistant", "step", "step", "step"]
_RARE = ["unanswered", "late", "orphan", "legacy", "system", "odd"]
SYSTEMS = st.lists(TEXTS.filter(str.strip), max_size=2)
TOOLS = st.lists(NAMES, max_size=3, unique=True)


def _events(dialect: str, tidy: bool) -> list[str]:
    events = [*_COMMON, "mixed"] if dialect == "anthropic" else _COMMON
    return events if tidy else [*events, *events, *_RARE]


@st.composite
def bodies(draw: Any, dialect: str, most: int = 12, tidy: bool | None = None) -> Wire:
    """A request body; a tidy one has nothing that a provider would refuse, beside its order of roles."""
    writer = WRITERS[dialect](draw)
    plain = draw(st.booleans()) if tidy is None else tidy
    messages: list[Wire] = []
    for event in draw(st.lists(st.sampled_from(_events(dialect, plain)), max_size=most)):
        messages += getattr(writer, event)()
    if plain:
        messages = [*writer.user(), *messages]
    return writer.body(draw(SYSTEMS), messages, [writer.tool(name) for name in draw(TOOLS)])


@st.composite
def growing(draw: Any, dialect: str, most: int = 7) -> list[Wire]:
    """Request bodies of one run, each most often the last one and what came after it.

    System prompts and tools change between them, cache marks wander, requests are sent twice, cut short or edited.
    """
    writer = WRITERS[dialect](draw)
    systems, tools, more = draw(SYSTEMS), draw(TOOLS), {}
    messages = writer.user()
    found = []
    for _ in range(draw(st.integers(1, most))):
        change = draw(st.integers(0, 11))
        if change == 0:
            systems = draw(SYSTEMS)
        elif change == 1:
            tools = draw(TOOLS)
        elif change == 2 and len(messages) > 1:
            messages = messages[: draw(st.integers(1, len(messages) - 1))]
        elif change == 3:
            messages = [*messages[:-1], *writer.user()]
        elif change == 4:
            more = {"model": draw(st.sampled_from(MODELS))}
        elif change == 5:
            pass
        else:
            for event in draw(st.lists(st.sampled_from(_events(dialect, False)), min_size=1, max_size=3)):
                messages = [*messages, *getattr(writer, event)()]
        sent = _marked(messages, draw(st.integers(0, len(messages) - 1))) if draw(st.booleans()) else messages
        body = writer.body(systems, json.loads(json.dumps(sent)), [writer.tool(name) for name in tools])
        found.append({**body, **more})
    return found


def _marked(messages: list[Wire], at: int) -> list[Wire]:
    """Give one message a cache mark; a plain text becomes a list of one part for it."""
    message = messages[at]
    content = message.get("content")
    if isinstance(content, str) and content:
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content or not isinstance(content[-1], dict):
        return messages
    marked = {**message, "content": [*content[:-1], {**content[-1], "cache_control": MARK}]}
    return [*messages[:at], marked, *messages[at + 1 :]]
