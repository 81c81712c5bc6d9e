"""Leaf 1A on every kind of giant block: the calls that it makes are counted as sent, or it says what to do instead."""

from __future__ import annotations

import base64
import json
import re
import struct
from typing import Any

import pytest

from core.advice import Advised, advised
from core.advice_tree import Leaf
from core.chunked_prompt import ChunkedPrompt
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime
from core.transcript import ROOT, Transcript
from core.validity import validate
from tests.advice_runs import history
from tests.runs import result, run, says, tool, user, uses

LOG = "\n".join(f"entry {n} of the log" for n in range(500))
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 1024, 1024)).decode()
PIN = [{"match": {"pattern": "^entry 0 "}, "evict": "pinned"}]
AROUND = [user("Look at it."), says("Yes.")]


def in_dialect(transcript: Transcript, spoken: str) -> Transcript:
    return replay(transcript, {"model": {"dialect": spoken}, "strategy": {"kind": "full_history"}}).transcript


def anthropic(content: list[dict[str, Any]]) -> Transcript:
    builder = TranscriptBuilder("anthropic")
    head = builder.head({"model": "claude-sonnet-4-20250514", "max_tokens": 9, "messages": []})
    last = builder.add(ROOT, {"role": "user", "content": content})
    builder.call(Placed(head, last), response={"role": "assistant", "content": [{"type": "text", "text": "Fine."}]})
    return builder.build()


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
SPLIT = {
    "the newest message": (run([*AROUND, user(LOG), says("Fine.")], system="Be brief."), ()),
    "an older pinned message": (run([user(LOG), says("Read."), *AROUND], system="Be brief."), PIN),
    "a section of many": (run(AROUND, system=f"# Rules\nBe brief.\n# Log [v*]\n{LOG}\n# End\nThat is all."), ()),
}
WHOLE = {
    "image": (anthropic([{"type": "text", "text": "What is it?"}, PICTURE]), (), "an image cannot be split"),
    "tool definition": (run(AROUND, tools=[tool("read", "y " * 900)]), (), "a tool definition cannot be split"),
    "pinned answer": (run([user("Read."), says(LOG), *AROUND]), PIN, "is no text that could be split"),
    "pinned call": (
        run([user("Write."), uses("c1", "write", text=LOG), result("c1", "ok"), *AROUND]),
        [{"match": {"kind": "tool_call"}, "evict": "pinned"}],
        "is no text that could be split",
    ),
}
BUDGET = 700


def found_for(transcript: Transcript, rules: Any) -> Advised:
    found = advised(history(transcript, BUDGET, rules=list(rules)))
    assert found is not None and found.advice.leaf is Leaf.CHUNK
    assert found.work is not None
    return found


def results(found: Advised) -> dict[str, bool | None]:
    return {check.name: check.passed for check in found.checks}


@pytest.mark.parametrize("spoken", ["openai_chat", "openai_responses", "anthropic", "gemini"])
@pytest.mark.parametrize("kind", SPLIT)
def test_each_call_is_counted_as_the_engine_counts_its_body(kind: str, spoken: str) -> None:
    transcript, rules = SPLIT[kind]
    found = found_for(in_dialect(transcript, spoken), rules)
    giant, work = found.prompt.largest_pinned, found.work
    assert giant is not None and work is not None and len(work.units) >= 3
    runtime = ContextRuntime.load({"budget": {"soft_limit": BUDGET}, "strategy": {"kind": "full_history"}})
    calls = ChunkedPrompt(found.prompt, giant)
    for unit in work.units:
        body = calls.body(unit.text)
        sent = runtime.assemble(body)
        assert (sent.tokens_before, sent.status, unit.fits) == (unit.tokens, "fits", True)
        assert unit.text in json.dumps(body, ensure_ascii=False).replace("\\n", "\n")
        assert not validate(body, spoken)
    assert work.fits is (work.aggregator <= BUDGET)


@pytest.mark.parametrize("kind", SPLIT)
def test_the_parts_are_the_text_and_the_configuration_numbers_them_so(kind: str) -> None:
    transcript, rules = SPLIT[kind]
    found = found_for(transcript, rules)
    giant, work, config = found.prompt.largest_pinned, found.work, found.config
    assert giant is not None and work is not None and config is not None
    assert "".join(unit.text.partition("\n")[2] for unit in work.units) == giant.text
    labels = [re.findall(r"^\[part (\d+) of (\d+) of ", unit.text) for unit in work.units]
    assert labels == [[(str(k), str(len(work.units)))] for k in range(1, len(work.units) + 1)]
    (numbered,) = config.shrink
    made: Any = numbered.shrinker()
    assert made.labelled(giant.text, giant.name, found.prompt.counter) == "".join(unit.text for unit in work.units)
    checked = results(found)
    assert checked.pop("every named field present or null") is None
    assert set(checked.values()) == {True}
    assert f"Send its {len(work.units)} numbered parts one a call" in found.verdict
    assert replay(transcript, config).plan(found.prompt.call).excess  # in one prompt the parts never fit


@pytest.mark.parametrize("kind", WHOLE)
def test_what_cannot_be_split_is_said_with_what_to_do(kind: str) -> None:
    transcript, rules, why = WHOLE[kind]
    found = found_for(transcript, rules)
    assert found.work is not None and not found.work.units
    assert why in found.work.obstacle
    assert found.work.obstacle[1:] in found.verdict
    assert (found.said, found.config, found.safe) == (None, None, False)
    for check in found.checks:
        assert check.passed is None or (check.passed is False and check.why == found.work.obstacle)
        assert "larger" not in check.why


def test_a_line_that_has_no_place_to_cut_does_not_fit() -> None:
    found = found_for(run([*AROUND, user("x" * 20_000), says("Fine.")]), ())
    checked = results(found)
    assert checked["each unit alone fits"] is False
    assert checked["the raw text is absent"] is False


def test_no_room_for_a_part_is_said() -> None:
    found = found_for(run([user(LOG), says("Fine.")], system="rule " * 660), ())
    assert found.work is not None and not found.work.units
    assert "leaves no room for a part" in found.verdict
