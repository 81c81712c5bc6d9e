"""Random messages as Anthropic writes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.engine_values import ARGUMENTS, NAMES, OUTPUTS, SCHEMA, SYSTEM_TEXTS, Wire, Writer, description

SOURCE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


class Anthropic(Writer):
    """Writes events as messages of Anthropic."""

    rare = ("unanswered", "late", "orphan", "odd", "system")
    events = ("mixed", "searched", "ran", "document", "thought")

    def _content(self, text: str | None) -> Any:
        shape = self.draw(st.integers(0, 9)) if text else 0
        block = {"type": "text", "text": text}
        if shape == 9:
            return [self.noted(self.marked(block, 2), 2)]
        if shape == 8:
            return [block, self.marked({"type": "text", "text": " more"}, 1)]
        if shape == 7:
            return [block, self.noted({"type": "image", "source": SOURCE})]
        return text

    def user(self) -> list[Wire]:
        return [self.noted({"role": "user", "content": self._content(self.content())})]

    def assistant(self) -> list[Wire]:
        return [self.noted({"role": "assistant", "content": self.content()})]

    def thought(self) -> list[Wire]:
        blocks = [*self._thinking(), {"type": "text", "text": self.text()}]
        return [{"role": "assistant", "content": blocks}]

    def _thinking(self) -> list[Wire]:
        return [
            {"type": "thinking", "thinking": "so far so good", "signature": "c2ln"},
            *([{"type": "redacted_thinking", "data": "zzzz" * 300}] if self.chance(3) else []),
        ]

    def _calls(self, count: int) -> Wire:
        blocks = self._thinking() if self.chance(4) else []
        if self.chance(4):
            blocks.append({"type": "text", "text": "I will look."})
        for _ in range(count):
            call = {"type": "tool_use", "id": self.ids.new(), "name": self.draw(NAMES), "input": self.draw(ARGUMENTS)}
            blocks.append(self.noted(call))
        return {"role": "assistant", "content": blocks}

    def _result(self, call_id: str) -> Wire:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": self._content(self.content())}
        failed = {"is_error": True} if self.chance(9) else {}
        return self.noted(self.marked({**block, **failed}))

    def step(self, extra: list[Wire] | None = None) -> list[Wire]:
        calls = self._calls(self.draw(st.integers(1, 3)))
        ids = [block["id"] for block in calls["content"] if block["type"] == "tool_use"]
        return [calls, {"role": "user", "content": [*(self._result(call_id) for call_id in ids), *(extra or [])]}]

    def mixed(self) -> list[Wire]:
        return self.step([{"type": "text", "text": self.text()}])

    def unanswered(self) -> list[Wire]:
        return self.step()[:1]

    def late(self) -> list[Wire]:
        calls, results = self.step()
        return [calls, *self.user(), results]

    def orphan(self) -> list[Wire]:
        return [{"role": "user", "content": [self._result(self.ids.any())]}]

    def searched(self) -> list[Wire]:
        search = {"type": "server_tool_use", "id": self.ids.new(), "name": "web_search", "input": {"query": "x"}}
        found = {
            "type": "web_search_tool_result",
            "tool_use_id": search["id"],
            "content": [{"type": "web_search_result", "url": "u", "encrypted_content": "AAAA" * 40}],
        }
        return [{"role": "assistant", "content": [search, found, {"type": "text", "text": "found it"}]}]

    def ran(self) -> list[Wire]:
        """A command that the provider ran: its result is an object."""
        name, done = "bash_code_execution", self.draw(OUTPUTS) * 2
        call = {"type": "server_tool_use", "id": self.ids.new(), "name": name, "input": {"command": "ls"}}
        content = {"type": f"{name}_result", "stdout": done, "stderr": "", "return_code": 0}
        result = {"type": f"{name}_tool_result", "tool_use_id": call["id"], "content": content}
        return [{"role": "assistant", "content": [call, self.noted(result), {"type": "text", "text": "it ran"}]}]

    def document(self) -> list[Wire]:
        source = {"type": "text", "media_type": "text/plain", "data": self.draw(OUTPUTS)}
        blocks = [
            self.marked({"type": "document", "source": source, "title": "d"}),
            {"type": "text", "text": "read it"},
        ]
        return [{"role": "user", "content": blocks}]

    def system(self) -> list[Wire]:
        return [{"role": "system", "content": self.text()}]

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

    def systems(self) -> Any:
        """Nothing, a text, or blocks with cache marks and unknown keys."""
        texts = self.draw(st.lists(SYSTEM_TEXTS, max_size=3))
        if len(texts) == 1 and self.chance(2):
            return texts[0]
        return [self.noted(self.marked({"type": "text", "text": text}, 3), 4) for text in texts]

    def tools(self) -> Any:
        each = [{"name": name, "description": description(name), "input_schema": SCHEMA} for name in self.named()]
        return [self.noted(self.marked(tool, 3), 4) for tool in each]

    def body(self, systems: Any, messages: list[Wire], tools: Any) -> Wire:
        body: Wire = {"model": "claude-sonnet-4-5", "max_tokens": 100, **({"system": systems} if systems else {})}
        chosen = {"tool_choice": {"type": "tool", "name": tools[0]["name"]}} if len(tools) > 2 else {}
        return {**body, "messages": messages, **({"tools": tools, **chosen} if tools else {}), "x_body": {"a": 1}}
