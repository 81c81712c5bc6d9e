"""Seeded transcripts for figures: user turns, tool rounds with results, replies; about 108 tokens a message."""

from __future__ import annotations

import json
import random
from typing import Any

from core.transcript import ROOT, Call, Transcript

CALLS_PER_CYCLE = 2
MESSAGES_PER_CYCLE = 5
_SYLLABLES = [
    "ba",
    "co",
    "di",
    "fu",
    "gel",
    "han",
    "jor",
    "kin",
    "lum",
    "mer",
    "nos",
    "pra",
    "qui",
    "rat",
    "sol",
    "tun",
    "vex",
    "wor",
    "yan",
    "zet",
]


def seeded(messages: int, seed: int = 7) -> Transcript:
    """Return a transcript of so many messages (a multiple of 5) and two calls a cycle of five messages."""
    words = _Words(seed)
    system = {
        "role": "system",
        "content": f"# Role\n{words.text(60)}\n\n# Rules\n1. {words.text(12)}\n2. {words.text(9)}",
    }
    found: list[dict[str, Any]] = []
    calls: list[Call] = []
    for cycle in range(messages // MESSAGES_PER_CYCLE):
        found.append({"role": "user", "content": words.text(25)})
        reply, results = _tool_round(cycle, words)
        calls.append(_call(len(found) - 1, reply))
        found += [reply, *results]
        answer = {"role": "assistant", "content": words.text(30)}
        calls.append(_call(len(found) - 1, answer))
        found.append(answer)
    return Transcript(
        dialect="openai_chat",
        messages=tuple(found),
        parents=tuple(range(ROOT, len(found) - 1)),
        heads=({"model": "gpt-4o", "messages": [system]},),
        calls=tuple(calls),
        title=f"{messages} seeded messages",
    )


def _call(last: int, response: dict[str, Any]) -> Call:
    return Call(head=0, history=last, captured=last, response=response)


def _tool_round(cycle: int, words: _Words) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ids = [f"call_{cycle}_{k}" for k in range(2)]
    calls = [
        {"id": i, "type": "function", "function": {"name": "search", "arguments": json.dumps({"query": words.text(6)})}}
        for i in ids
    ]
    results = [{"role": "tool", "tool_call_id": i, "content": words.text(120)} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}, results


class _Words:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._known = ["".join(self._random.choices(_SYLLABLES, k=self._random.randint(1, 3))) for _ in range(4000)]

    def text(self, count: int) -> str:
        """Return a sentence of so many words, some of them numbers and paths."""
        words = self._random.choices(self._known, k=count)
        words[0] = words[0].capitalize()
        if count > 10:
            words[count // 2] = f"/srv/{words[1]}/{self._random.randint(10, 99999)}"
        return " ".join(words) + "."
