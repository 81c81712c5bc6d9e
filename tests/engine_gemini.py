"""Random contents as Gemini writes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.engine_values import ARGUMENTS, NAMES, OUTPUTS, SCHEMA, SYSTEM_TEXTS, Wire, Writer, description

DATA = {"mimeType": "image/png", "data": "iVBORw0KGgo="}


class Gemini(Writer):
    """Writes events as contents of Gemini."""

    rare = ("unanswered", "late", "orphan", "odd")
    events = ("ran", "file", "thought")

    def user(self) -> list[Wire]:
        parts: list[Wire] = [self.noted({"text": self.content() or ""})]
        if self.chance(6):
            parts.append(self.noted({"inlineData": DATA}))
        return [self.noted({"role": "user", "parts": parts})]

    def assistant(self) -> list[Wire]:
        return [self.noted({"role": "model", "parts": [self.noted({"text": self.text()})]})]

    def thought(self) -> list[Wire]:
        signed = {"text": self.text(), "thoughtSignature": "c2ln"}
        return [{"role": "model", "parts": [{"text": "so far so good", "thought": True}, signed]}]

    def step(self, named: bool = False) -> list[Wire]:
        ids = named or self.chance(2)
        parts: list[Wire] = [{"text": "I will look.", "thought": True}] if self.chance(3) else []
        results = []
        for place in range(self.draw(st.integers(1, 3))):
            name, call_id = self.draw(NAMES), {"id": self.ids.new()} if ids else {}
            signed = {"thoughtSignature": "c2ln"} if place == 0 else {}
            parts.append(
                self.noted({"functionCall": {"name": name, "args": self.draw(ARGUMENTS), **call_id}, **signed})
            )
            results.append(self._result(name, call_id))
        return [{"role": "model", "parts": parts}, self.noted({"role": "user", "parts": results})]

    def _result(self, name: str, call_id: Wire) -> Wire:
        answer = {"output": self.draw(OUTPUTS), "code": 1} if self.chance(4) else {"result": self.content() or ""}
        held = {"parts": [{"inlineData": DATA}]} if self.chance(8) else {}
        return self.noted({"functionResponse": {"name": name, "response": answer, **held, **call_id}})

    def unanswered(self) -> list[Wire]:
        return self.step()[:1]

    def late(self) -> list[Wire]:
        calls, results = self.step(named=True)
        return [calls, *self.user(), results]

    def orphan(self) -> list[Wire]:
        return [{"role": "user", "parts": [self._result(self.draw(NAMES), {"id": self.ids.any()})]}]

    def ran(self) -> list[Wire]:
        code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
        done = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": self.draw(OUTPUTS)}}
        return [{"role": "model", "parts": [code, self.noted(done), {"text": "it ran"}]}]

    def file(self) -> list[Wire]:
        file = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}}
        return [{"role": "user", "parts": [file, {"text": self.text()}]}]

    def odd(self) -> list[Wire]:
        odd: list[Any] = [
            {"role": "critic", "parts": [{"text": "hm"}]},
            {"parts": [{"text": "no role"}]},
            {"role": "user", "parts": []},
            {"role": "user", "parts": [{"mystery": 1}, "bare"]},
            {"role": "model", "parts": 7},
        ]
        return [self.draw(st.sampled_from(odd))]

    def before(self, messages: list[Wire], event: list[Wire]) -> list[Wire]:
        """Return a tidy event behind a user's content: Gemini takes no call behind another content of the model."""
        if self.tidy and messages and messages[-1].get("role") == event[0].get("role") == "model":
            return [*self.user(), *event]
        return event

    def systems(self) -> Any:
        """Nothing, a text, or parts with unknown keys and a picture."""
        texts = self.draw(st.lists(SYSTEM_TEXTS, max_size=3))
        if not texts:
            return {}
        if len(texts) == 1 and self.chance(2):
            return {"system_instruction": texts[0]}
        parts: list[Wire] = [self.noted({"text": text}, 4) for text in texts]
        if self.chance(4):
            parts.insert(self.draw(st.integers(0, len(parts))), {"inlineData": DATA})
        return {"systemInstruction": self.noted({"parts": parts})}

    def tools(self) -> Any:
        names = self.named()
        if not names:
            return {}
        each = [{"name": name, "description": description(name), "parameters": SCHEMA} for name in names]
        tool: Wire = {"functionDeclarations": [self.noted(one, 4) for one in each]}
        if self.chance(3):
            tool["googleSearch"] = {}
        tools = [self.noted(tool, 4), *([{"codeExecution": {}}] if self.chance(4) else [])]
        if not self.chance(3):
            return {"tools": tools}
        calling = {"mode": "ANY", "allowedFunctionNames": names[:1]}
        return {"tools": tools, "toolConfig": {"functionCallingConfig": calling, "x_config": 1}}

    def body(self, systems: Any, messages: list[Wire], tools: Any) -> Wire:
        return {**systems, "contents": messages, **tools, "generationConfig": {"temperature": 0}, "x_body": {"a": 1}}
