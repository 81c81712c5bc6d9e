"""What findings tell in figures is what the plans send and the shrinker takes, under every strategy."""

from __future__ import annotations

from typing import Any

import pytest

from core.readers.builder import Placed, TranscriptBuilder
from core.replay import Replay, replay
from core.shrinkers.dedupe_instructions import repeated_rules
from core.transcript import ROOT
from pages.parts.frames import blocks
from pages.parts.presence import presence
from tests.runs import result, run, says, user, uses
from tests.test_findings import found, in_heads, played, system

NOISE = "\n".join(f"line {n} of noise" for n in range(900))
CUT = [{"kind": "project_tool_results", "max_tokens": 100}]


def with_noise(later: int = 6) -> Replay:
    """One huge result that nothing refers to, then so many small ones that are."""
    said = [user("Go."), uses("c1", "dump"), result("c1", NOISE)]
    for n in range(later):
        said += [uses(f"d{n}", "look", q=f"{n}"), result(f"d{n}", f"price_of_item_{n} is known\n" * 40)]
    return played(run([*said, says("Done with price_of_item_2.")]), 4_000)


def of(made: Replay, **said: Any) -> Replay:
    return replay(made.transcript, {"budget": {"soft_limit": 4_000}, **said})


def test_what_a_strategy_leaves_of_results_is_named() -> None:
    plain = found(with_noise())["tool_output_share"]
    assert plain.span_ids[0] == "m2.0"
    masked = of(with_noise(), strategy={"kind": "mask_tool_results", "keep": 5, "trigger": 0})
    finding = found(masked)["tool_output_share"]
    assert finding.call is not None
    left = {made.span_id: made.tokens_after for made in masked.plan(finding.call).decisions}
    assert finding.sentence.endswith(f" has {left[finding.span_ids[0]]:,} tokens.")
    assert left[finding.span_ids[0]] == max(left[span_id] for span_id in left if span_id.startswith("m"))


def test_results_that_are_gone_are_not_the_largest() -> None:
    made = of(with_noise(12), strategy={"kind": "keep_last", "keep_steps": 4})
    finding = found(made)["tool_output_share"]
    assert finding.call is not None
    left = {one.span_id: one.tokens_after for one in made.plan(finding.call).decisions}
    assert all(left[span_id] for span_id in finding.span_ids)


@pytest.mark.parametrize(
    ("said", "prompts"),
    [
        ({"strategy": {"kind": "full_history"}}, 7),
        ({"strategy": {"kind": "mask_tool_results", "keep": 3, "trigger": 0}}, 3),
        ({"strategy": {"kind": "mask_tool_results", "keep": 2, "trigger": 0}}, None),
        ({"shrink": CUT, "strategy": {"kind": "full_history"}}, None),
    ],
)
def test_a_result_costs_where_it_is_sent_whole(said: dict[str, Any], prompts: int | None) -> None:
    made = of(with_noise(), **said)
    finding = found(made).get("never_referenced")
    whole = sum(made.plan(call).remains(2, "m2.0") is None for call in range(1, len(made.transcript.calls)))
    assert (finding is None) is (prompts is None)
    if finding is not None:
        assert whole == prompts
        tokens = next(one.tokens_before for one in made.plan(7).decisions if one.span_id == "m2.0")
        assert finding.sentence.endswith(f"stood in {whole} prompts: {whole * tokens:,} tokens.")


def test_instructions_that_change_are_those_of_one_call() -> None:
    long, short = system("a " * 700), system("a " * 600)
    assert found(played(in_heads(long, long), None))["floor_too_large"].sentence.startswith("The instructions of every")
    changed = found(played(in_heads(short, long), None))["floor_too_large"]
    assert changed.sentence.startswith("The instructions of call 2 have 70")
    twice, once = system("- Be brief and always polite.\n" * 2), system("- Be brief and always polite.\n")
    assert found(played(in_heads(twice, twice), None))["duplicate_instructions"].sentence.endswith("in every call.")
    assert found(played(in_heads(once, twice), None))["duplicate_instructions"].sentence.endswith(" in call 2.")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- Be brief and always polite.\n1. Be brief and always polite.\n", 1),
        ("```\nsome_call(of_a_function)\nsome_call(of_a_function)\n```\n", 0),
        ("## A heading of its own\n- One rule of the house.\n## A heading of its own\n- Another rule of it.\n", 1),
        ("# Examples\nUser: say it again\nUser: say it again\n", 0),
        ("----------------\n----------------\n", 1),
    ],
    ids=["numbered", "fenced", "headings", "examples", "rulers"],
)
def test_lines_said_again_are_those_that_the_shrinker_takes(text: str, lines: int) -> None:
    made = played(run([user("Hi."), says("Ho.")], system=text), None)
    fixed = made.plan(0).fixed
    shrunk = replay(
        made.transcript, {"shrink": [{"kind": "dedupe_instructions"}], "strategy": {"kind": "full_history"}}
    )
    after = shrunk.plan(0).fixed
    gone = len("".join(span.text for span in fixed.sections).splitlines())
    gone -= len("".join(span.text for span in after.sections).splitlines())
    assert len(repeated_rules(fixed)) == gone == lines
    finding = found(made).get("duplicate_instructions")
    assert (finding.figures["lines"] if finding else 0) == lines
    assert repeated_rules(after) == []


def test_a_pinned_section_repeats_nothing_that_could_go() -> None:
    text = "- Be brief and always polite.\n" * 2
    rules = [{"match": {"kind": "instructions"}, "evict": "pinned"}]
    plain = run([user("Hi."), says("Ho.")], system=text)
    made = replay(plain, {"rules": rules, "strategy": {"kind": "full_history"}})
    assert repeated_rules(made.plan(0).fixed) == []
    assert "duplicate_instructions" not in found(made)


def test_a_result_costs_in_every_conversation_that_sends_it() -> None:
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    shared = ROOT
    for message in (user("Go."), uses("c1", "dump"), result("c1", NOISE)):
        shared = builder.add(shared, message)
    for name in ("one", "other"):
        last = shared
        for n in range(3):
            builder.call(Placed(head, last), response=says(f"{name} {n}"))
            last = builder.add(last, says(f"{name} {n}"))
            last = builder.add(last, user(f"{name} {n}, go on"))
    made = played(builder.build(), None)
    [tokens] = [one.tokens_before for one in made.plan(0).decisions if one.span_id == "m2.0"]
    finding = found(made)["never_referenced"]
    assert finding.sentence.endswith(f"stood in 6 prompts: {6 * tokens:,} tokens.")
    seen = presence(made)
    assert next(block.sent for block in blocks(made, 0, seen) if block.id == "m2.0") == 6
