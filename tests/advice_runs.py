"""Transcripts of which each is a case for one leaf of advice, and how advice is asked for."""

from __future__ import annotations

from typing import Any

from core.advice import Advised, advised
from core.replay import Replay, replay
from core.transcript import Transcript
from tests.runs import result, run, says, user, uses


def history(transcript: Transcript, budget: int | None, **more: Any) -> Replay:
    said = {"budget": {"soft_limit": budget}, "strategy": {"kind": "full_history"}, **more}
    return replay(transcript, said)


def advice(transcript: Transcript, budget: int, call: int | None = None, **options: Any) -> Advised:
    found = advised(history(transcript, budget), call, **options)
    assert found is not None
    return found


def chat(turns: int = 20, words: int = 60) -> Transcript:
    return run([m for n in range(turns) for m in (user(f"{n} " + "word " * words), says(f"{n} " + "reply " * words))])


def agent(steps: int = 30, lines: int = 100, name: str = "noise") -> Transcript:
    said = [
        m
        for n in range(steps)
        for m in (uses(f"c{n}", "read", path=f"src/{n}.py"), result(f"c{n}", f"{name} {n}\n" * lines))
    ]
    return run([user("Go."), *said, says("Done.")])


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven")
RULES = [f"- Rule number {word} of the house must be kept.\n" for word in NUMBERS]
DOUBLE = "# Rules\n" + "".join(RULES) * 8
EXAMPLES = "# Examples\nUser: a\nAssistant: b\n" * 30


def restated(system: str = DOUBLE + EXAMPLES) -> Transcript:
    return run([user("Hello."), says("Hi."), user("More."), says("Yes.")], system=system)


def giant(words: int = 3000) -> Transcript:
    log = "\n".join(f"entry {n} of the log" for n in range(words // 5))
    return run([user("Look at the log."), says("Send it."), user(log), says("It is fine.")], system="Be brief.")
