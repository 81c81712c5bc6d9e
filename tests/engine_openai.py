"""Random messages as OpenAI chat and OpenAI Responses write them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.engine_values import (
    ARGUMENTS,
    NAMES,
    OUTPUTS,
    PICTURE,
    SCHEMA,
    SYSTEM_TEXTS,
    Wire,
    Writer,
    description,
)

SEALED = "gAAA" * 300


class OpenAI(Writer):
    """Writes events as messages of OpenAI chat."""

    rare = ("unanswered", "orphan", "odd")
    events = ("late", "legacy", "system", "refusal", "audio")

    def _parts(self, text: str | None) -> Any:
        """A text as a string, mostly; else as a list of parts, perhaps with an image, a file or a cache mark."""
        shape = self.draw(st.integers(0, 9)) if text else 0
        part = {"type": "text", "text": text}
        if shape == 9:
            return [self.noted(part, 2)]
        if shape == 8:
            return [part, self.marked({"type": "text", "text": " more"}, 1)]
        if shape == 7:
            return [part, self.noted({"type": "image_url", "image_url": {"url": PICTURE}})]
        if shape == 6:
            return [{"type": "file", "file": {"file_id": "f1"}}, self.noted(part)]
        return text

    def user(self) -> list[Wire]:
        message = self.noted({"role": "user", "content": self._parts(self.content())})
        return [{**message, "name": "ann"} if self.chance(9) else message]

    def assistant(self) -> list[Wire]:
        message = self.noted({"role": "assistant", "content": self.content()})
        return [{**message, "reasoning_content": "let me see"} if self.chance(5) else message]

    def refusal(self) -> list[Wire]:
        return [{"role": "assistant", "content": None, "refusal": self.draw(OUTPUTS)}]

    def audio(self) -> list[Wire]:
        return [{"role": "assistant", "content": None, "audio": {"id": "a1"}}] if not self.tidy else self.refusal()

    def _call(self) -> Wire:
        function = {"name": self.draw(NAMES), "arguments": json.dumps(self.draw(ARGUMENTS))}
        return self.noted({"id": self.ids.new(), "type": "function", "function": function})

    def _result(self, call_id: str) -> Wire:
        return self.noted({"role": "tool", "tool_call_id": call_id, "content": self._parts(self.content())})

    def step(self) -> list[Wire]:
        calls = [self._call() for _ in range(self.draw(st.integers(1, 3)))]
        content = self.draw(st.sampled_from([None, "", "I will look."]))
        reply = {"role": "assistant", "content": content, "tool_calls": calls}
        return [self.noted(reply), *(self._result(call["id"]) for call in calls)]

    def unanswered(self) -> list[Wire]:
        return self.step()[: self.draw(st.integers(1, 2))]

    def late(self) -> list[Wire]:
        if self.tidy:
            return self.step()
        calls, *results = self.step()
        return [calls, *results[1:], *self.user(), results[0]]

    def orphan(self) -> list[Wire]:
        return [self._result(self.ids.any())]

    def legacy(self) -> list[Wire]:
        call = {"role": "assistant", "content": None, "function_call": {"name": self.draw(NAMES), "arguments": "{}"}}
        return [call, {"role": "function", "name": call["function_call"]["name"], "content": self.text()}]

    def system(self) -> list[Wire]:
        role = self.draw(st.sampled_from(["system", "developer"]))
        return [{"role": role, "content": self._parts(self.content())}]

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

    def systems(self) -> Any:
        """Leading system messages: texts, or lists of texts with cache marks, unknown keys and a picture."""
        return [self._system() for _ in range(self.draw(st.integers(0, 2)))]

    def _system(self) -> Wire:
        role, text = self.draw(st.sampled_from(["system", "system", "developer"])), self.draw(SYSTEM_TEXTS)
        if not self.chance(3):
            return self.noted({"role": role, "content": text})
        texts = [text, *self.draw(st.lists(SYSTEM_TEXTS, max_size=2))]
        parts = [self.noted(self.marked({"type": "text", "text": part}), 4) for part in texts]
        picture = [{"type": "image_url", "image_url": {"url": PICTURE}}] if self.chance(6) else []
        return {"role": role, "content": [*parts, *picture]}

    def tools(self) -> Any:
        return [
            self.noted(
                {
                    "type": "function",
                    "function": {"name": name, "description": description(name), "parameters": SCHEMA},
                },
                4,
            )
            for name in self.named()
        ]

    def body(self, systems: Any, messages: list[Wire], tools: Any) -> Wire:
        chosen = {"tool_choice": {"type": "function", "function": tools[0]["function"]}} if len(tools) > 2 else {}
        given = {"tools": tools, **chosen} if tools else {}
        return {"model": "gpt-4o", "messages": [*systems, *messages], **given, "seed": 1, "x_body": {"a": 1}}


class Responses(Writer):
    """Writes events as items of OpenAI Responses."""

    rare = ("unanswered", "orphan", "odd")
    events = ("late", "hosted", "shell", "computer", "custom", "recorded", "system", "sealed")

    def _parts(self, text: str | None, kind: str = "input_text") -> Any:
        shape = self.draw(st.integers(0, 9)) if text else 0
        part = {"type": kind, "text": text}
        if shape == 9:
            return [self.noted(part, 2), {"type": kind, "text": " more"}]
        if shape == 8:
            return [part, self.noted({"type": "input_image", "image_url": PICTURE})]
        if shape == 7:
            return [{"type": "input_file", "file_id": "f1"}, part]
        return [part] if shape == 6 else text

    def user(self) -> list[Wire]:
        return [self.noted({"role": "user", "content": self._parts(self.content())})]

    def assistant(self) -> list[Wire]:
        parts = [{"type": "output_text", "text": self.text(), "annotations": []}]
        said = self.noted({"type": "message", "role": "assistant", "content": parts})
        return [*self._thought(), said]

    def _thought(self) -> list[Wire]:
        if not self.chance(3):
            return []
        summary = [{"type": "summary_text", "text": "so far so good"}] if self.chance(2) else []
        return [self.noted({"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": SEALED})]

    def step(self) -> list[Wire]:
        calls = [self._call() for _ in range(self.draw(st.integers(1, 3)))]
        look = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}]
        results = [self._result(call["call_id"]) for call in calls]
        return [*self._thought(), *(look if self.chance(3) else []), *calls, *results]

    def _call(self) -> Wire:
        arguments = json.dumps(self.draw(ARGUMENTS))
        call = {"type": "function_call", "call_id": self.ids.new(), "name": self.draw(NAMES), "arguments": arguments}
        return self.noted(call)

    def _result(self, call_id: str) -> Wire:
        output = self._parts(self.content()) or ""
        return self.noted({"type": "function_call_output", "call_id": call_id, "output": output})

    def late(self) -> list[Wire]:
        call = self._call()
        return [call, *self.user(), self._result(call["call_id"])]

    def unanswered(self) -> list[Wire]:
        return [*self._thought(), self._call()]

    def orphan(self) -> list[Wire]:
        return [self._result("unknown")]

    def hosted(self) -> list[Wire]:
        """A call of the provider's own tools, with its result in the item."""
        made = self.ids.new()
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "found it"}]}
        found = [{"file_id": "f", "text": self.draw(OUTPUTS)}]
        items: list[Wire] = [
            {"type": "web_search_call", "id": made, "status": "completed", "action": {"query": "x"}},
            {"type": "file_search_call", "id": made, "queries": ["x"], "results": found},
            {
                "type": "code_interpreter_call",
                "id": made,
                "code": "1",
                "outputs": [{"type": "logs", "logs": "x" * 400}],
            },
            {"type": "mcp_call", "id": made, "name": "read", "arguments": "{}", "output": self.draw(OUTPUTS)},
            {"type": "image_generation_call", "id": made, "result": "iVBORw0KGgo="},
        ]
        return [self.noted(self.draw(st.sampled_from(items))), said]

    def shell(self) -> list[Wire]:
        made, outcome = self.ids.new(), {"type": "exit", "exit_code": 0}
        call = {"type": "shell_call", "call_id": made, "action": {"commands": ["ls"]}, "status": "completed"}
        output = [{"stdout": self.draw(OUTPUTS) * 3, "stderr": "", "outcome": outcome}]
        return [call, self.noted({"type": "shell_call_output", "call_id": made, "output": output})]

    def computer(self) -> list[Wire]:
        made = self.ids.new()
        call = {
            "type": "computer_call",
            "call_id": made,
            "id": made,
            "action": {"type": "click"},
            "status": "completed",
        }
        output = {"type": "computer_screenshot", "image_url": PICTURE}
        return [call, {"type": "computer_call_output", "call_id": made, "output": output}]

    def custom(self) -> list[Wire]:
        made = self.ids.new()
        call = {"type": "custom_tool_call", "call_id": made, "name": "apply_patch", "input": "*** Begin"}
        return [call, {"type": "custom_tool_call_output", "call_id": made, "output": self.draw(OUTPUTS)}]

    def recorded(self) -> list[Wire]:
        """A reply as some logs keep it: one entry with all its items."""
        return [{"role": "assistant", "output": self.assistant()}]

    def sealed(self) -> list[Wire]:
        return [{"type": "compaction", "encrypted_content": SEALED}]

    def system(self) -> list[Wire]:
        return [{"role": self.draw(st.sampled_from(["system", "developer"])), "content": self.text()}]

    def odd(self) -> list[Wire]:
        items: list[Any] = [
            {"role": "critic", "content": "hm"},
            {"type": "item_reference", "id": "msg_1"},
            {"role": "user", "content": []},
            {"type": "mystery", "x": 1},
        ]
        return [self.draw(st.sampled_from(items))]

    def systems(self) -> Any:
        """Instructions, and leading items of a developer, perhaps with tools that were loaded before all else."""
        instructions = self.draw(SYSTEM_TEXTS) if self.chance(2) else None
        lead: list[Wire] = [
            self.noted({"role": "developer", "content": self._parts(self.draw(SYSTEM_TEXTS))})
            for _ in range(self.draw(st.integers(0, 2)))
        ]
        if self.chance(5):
            lead.insert(0, {"type": "additional_tools", "role": "developer", "tools": [self._tool("loaded")]})
        return instructions, lead

    def _tool(self, name: str) -> Wire:
        return {"type": "function", "name": name, "description": description(name), "parameters": SCHEMA}

    def tools(self) -> Any:
        hosted = [{"type": "web_search"}] if self.chance(5) else []
        return [*(self.noted(self._tool(name), 4) for name in self.named()), *hosted]

    def body(self, systems: Any, messages: list[Wire], tools: Any) -> Wire:
        instructions, lead = systems
        head = {"instructions": instructions} if instructions else {}
        chosen = {"tool_choice": {"type": "function", "name": tools[0]["name"]}} if len(tools) == 2 else {}
        given = {"tools": tools, **(chosen if "name" in tools[0] else {})} if tools else {}
        return {"model": "gpt-5", "store": False, **head, "input": [*lead, *messages], **given, "x_body": {"a": 1}}
