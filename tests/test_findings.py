"""Every finding on a run that shows it, and on one beside it that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_changes
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core import findings_fixed_part
from core.dialects.openai_tokens import parsed
from core.finding import Finding, Level
from core.findings import FINDERS, findings
from core.readers import read
from core.readers.builder import Placed, TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import ROOT, Transcript, Usage
from tests.runs import result, run, says, tool, user, uses

SAMPLES = Path(__file__).parents[1] / "sample_data"
GROUPED = {"kind": "tiered_injection", "groups": [{"name": "rest", "tools": ["t?", "t1?"]}]}
RULE = "- Always answer in whole sentences, please.\n"


def found(made: Replay) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings(made)}


def chat(turns: int, words: int = 60, system: str = "") -> Transcript:
    said = [m for n in range(turns) for m in (user(f"{n} " + "word " * words), says(f"{n} " + "reply " * words))]
    return run(said, system=system)


def agent(steps: int, lines: int = 100) -> Transcript:
    said = [m for n in range(steps) for m in (uses(f"c{n}", "read", path=f"{n}.py"), result(f"c{n}", f"{n}\n" * lines))]
    return run([user("Go."), *said, says("Done.")])


def played(transcript: Transcript, budget: int | None, kind: str = "full_history", **settings: Any) -> Replay:
    return replay(transcript, {"budget": {"soft_limit": budget}, "strategy": {"kind": kind, **settings}})


def in_heads(*heads: dict[str, Any]) -> Transcript:
    """One conversation whose calls have these heads."""
    builder = TranscriptBuilder("openai_chat")
    last = ROOT
    for head in heads:
        last = builder.add(last, user("More."))
        builder.call(Placed(builder.head({"model": "gpt-4o", "messages": [], **head}), last), response=says("Yes."))
        last = builder.add(last, says("Yes."))
    return builder.build()


def system(text: str, *tools: str) -> dict[str, Any]:
    head: dict[str, Any] = {"messages": [{"role": "system", "content": text}]}
    return {**head, "tools": [tool(name) for name in tools]} if tools else head


def test_a_small_run_has_nothing_to_find() -> None:
    assert findings(played(chat(3), 10_000)) == []
    assert findings(played(run([]), 10)) == []


def test_over_budget_says_which_calls() -> None:
    made = played(chat(10), 500)
    finding = found(made)["over_budget"]
    excess = made.calls["excess"]
    assert finding.call == 9
    over = sum(e > 0 for e in excess)
    assert finding.figures == {"calls": over, "largest_excess": excess[9], "fit_as_recorded": 0}
    assert finding.level is Level.ERROR
    assert finding.span_ids == made.plan(9).blockers[:3]


@pytest.mark.parametrize(("budget", "level"), [(10_000, Level.NOTICE), (500, Level.WARNING)])
def test_a_strategy_that_changed_nothing(budget: int, level: Level) -> None:
    finding = found(played(chat(10), budget, "mask_tool_results"))["did_nothing"]
    assert (finding.level, finding.figures) == (level, {"calls": 10})


def test_a_baseline_is_not_said_to_do_nothing() -> None:
    assert "did_nothing" not in found(played(chat(10), 500))


@pytest.mark.parametrize(
    ("tokens", "level"),
    [(500, None), (520, Level.NOTICE), (900, Level.NOTICE), (2_100, Level.WARNING)],
)
def test_levels_of_the_floor(tokens: int, level: Level | None) -> None:
    made = played(run([user("Hi."), says("Ho.")], system="a " * (tokens - 2)), None)
    finding = found(made).get("floor_too_large")
    assert (finding and finding.level) == level


def test_a_floor_above_its_share_of_the_budget_is_an_error_and_the_source_a_claim() -> None:
    made = played(run([user("Hi."), says("Ho.")], system="a " * 400), 1_000)
    finding = found(made)["floor_too_large"]
    assert finding.level is Level.ERROR
    assert "above 30% of the soft budget" in finding.sentence
    assert "A published claim, without method or sample" in finding.sentence
    assert finding.span_ids == ("s0.0",)


@pytest.mark.parametrize(("tools", "strategy", "told"), [(50, {}, 50), (49, {}, None), (60, GROUPED, None)])
def test_so_many_tools_that_groups_are_recommended(tools: int, strategy: dict[str, Any], told: int | None) -> None:
    made = run([user("Hi."), says("Ho.")], tools=[tool(f"t{number}") for number in range(tools)])
    finding = found(replay(made, {"strategy": {"kind": "full_history", **strategy}})).get("many_tools")
    assert (finding and finding.figures["tools"]) == told
    if finding:
        assert finding.sentence.startswith("Every call defines 50 tools, ")
        assert finding.figures["tokens"] == sum(span.tokens for span in played(made, None).plan(0).fixed.tools)


def test_tools_that_the_provider_defers_are_not_many() -> None:
    tools = [{**tool(f"t{number}"), "defer_loading": number > 3} for number in range(60)]
    assert "many_tools" not in found(played(run([user("Hi."), says("Ho.")], tools=tools), None))


def test_definitions_are_read_once_for_all_calls_that_send_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read_texts: list[str] = []

    def counted(text: str) -> Any:
        read_texts.append(text)
        return parsed(text)

    monkeypatch.setattr(findings_fixed_part, "parsed", counted)
    said = [made for at in range(20) for made in (user(f"{at}"), says("Ho."))]
    made = played(run(said, tools=[tool(f"t{number}") for number in range(60)]), None)
    assert len(made.transcript.calls) == 20 and "many_tools" in found(made)
    assert len(read_texts) == 60


def test_rules_said_twice() -> None:
    made = played(run([user("Hi."), says("Ho.")], system="# Rules\n" + RULE * 3 + "- Be kind to everybody.\n"), None)
    finding = found(made)["duplicate_instructions"]
    assert finding.figures["lines"] == 2
    assert finding.figures["tokens"] == 2 * 9  # two of three lines of nine tokens
    said = {"shrink": [{"kind": "dedupe_instructions"}], "strategy": {"kind": "full_history"}}
    assert "duplicate_instructions" not in found(replay(made.transcript, said))


def test_a_tool_that_comes_and_goes() -> None:
    transcript = in_heads(
        system("Be brief.", "read", "write"), system("Be brief.", "read"), system("Be brief.", "read", "write")
    )
    finding = found(played(transcript, None))["flickers"]
    assert finding.sentence == "The tool 'write' is in call 1 and missing in call 2; it comes back in call 3."
    assert (finding.call, finding.span_ids, finding.level) == (0, ("t1",), Level.WARNING)


def test_a_section_that_goes_for_good_is_a_notice() -> None:
    transcript = in_heads(system("# One\ntext of one\n# Two\ntext of two\n"), system("# One\ntext of one\n"))
    finding = found(played(transcript, None))["flickers"]
    assert (finding.level, finding.figures) == (Level.NOTICE, {"vanished": 1, "returned": 0})
    assert finding.sentence == "The section 'Two' is in call 1 and missing in call 2."


def test_tools_put_aside_by_the_strategy_flicker_too() -> None:
    groups = [{"name": "mail", "keywords": ["post"], "tools": ["send_letters"]}]
    transcript = run(
        [
            user("Please post it."),
            says("Done."),
            *(m for n in range(4) for m in (user(f"{n} more"), says("Yes." * 200))),
        ],
        tools=[tool("send_letters", "Sends letters. " * 40), tool("look")],
    )
    made = played(transcript, 100, "tiered_injection", keep_messages=1, groups=groups)
    assert "The tool 'send_letters'" in found(made)["flickers"].sentence
    assert "flickers" not in found(played(transcript, None, "tiered_injection", groups=groups))


def test_other_conversations_do_not_flicker() -> None:
    builder = TranscriptBuilder("openai_chat")
    for number, names in enumerate((("read",), ("write",))):
        last = builder.add(ROOT, user(f"Task {number}."))
        builder.call(
            Placed(builder.head({"model": "gpt-4o", **system("Be brief.", *names)}), last), response=says("Yes.")
        )
    assert "flickers" not in found(played(builder.build(), None))


def test_a_window_that_falls_again_and_again() -> None:
    made = played(chat(40), 1_500, "tiered_injection", keep_messages=2, step=900)
    finding = found(made)["not_steady"]
    sent = made.calls["in_window"]
    assert finding.figures["falls"] == sum(b < 0.9 * a for a, b in pairwise(sent))
    assert finding.call is not None
    assert sent[finding.call - 1] - sent[finding.call] == finding.figures["largest_fall"]
    assert "not_steady" not in found(played(chat(40), None))


def test_a_cut_that_goes_back_and_forth() -> None:
    """Every other question is huge; beside a small one the older answer has room again."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    last = builder.extend(ROOT, [user("Begin."), says("word " * 300)])
    for call in range(8):
        asked = builder.add(last, user(f"{call} " + "word " * (600 if call % 2 else 5)))
        builder.call(Placed(head, asked), response=says("Yes."))
    made = played(builder.build(), 700, "keep_last", keep_turns=1)
    assert found(made)["thrash"].figures["returns"] >= 2
    assert "thrash" not in found(played(chat(40), 1_500, "keep_last", keep_turns=2))


def test_published_summaries_may_be_larger_than_their_messages() -> None:
    transcript = run([m for n in range(12) for m in (user("ok"), says("no"))])
    finding = found(played(transcript, None, "summarize_and_keep", mode="published"))["summary_larger"]
    assert finding.figures["after"] > finding.figures["before"] > 0
    assert finding.call == 11
    right = played(transcript, 60, "summarize_and_keep", keep_turns=2, min_turns=0, min_steps=0)
    assert "summary_larger" not in found(right)


def test_a_rolling_summary_is_weighed_against_all_that_it_stands_for() -> None:
    assert "summary_larger" not in found(played(chat(20), 1_500, "tiered_injection"))


def test_a_cut_that_moves_with_each_call_breaks_the_prefix() -> None:
    finding = found(played(agent(30), 1_500, "keep_last", keep_steps=3))["prefix_broken"]
    assert finding.figures["breaks"] == finding.figures["calls"]
    assert "A larger `step` (now 0)" in finding.sentence
    assert "prefix_broken" not in found(played(agent(30), 6_000, "keep_last", keep_steps=3, step=3_000))


def test_a_system_part_that_changes_with_each_call() -> None:
    heads = [system(f"# Rules\nBe brief.\n# Clock\nIt is 12:0{minute}.\n") for minute in range(8)]
    finding = found(played(in_heads(*heads), None))["fixed_part_changes"]
    assert finding.figures == {"changes": 7, "calls": 7}
    assert "call 2: the system part" in finding.sentence
    assert "step" not in finding.sentence  # nothing that a strategy could set
    assert "fixed_part_changes" not in found(played(in_heads(*heads[:1] * 8), None))


def test_a_recorded_compaction_is_a_truncated_prompt() -> None:
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    first = builder.add(ROOT, user("Begin."))
    builder.call(Placed(head, first), response=says("One."))
    last = builder.add(builder.add(first, says("One.")), user("Go on."))
    summary = builder.add(ROOT, user("[summary of before] Go on."))
    builder.call(Placed(head, summary), history=last, response=says("Two."))
    finding = found(played(builder.build(), None))["captured_truncated"]
    assert (finding.call, finding.figures) == (1, {"calls": 1, "notes": 0})
    assert "1 message of 3" in finding.sentence


@pytest.mark.parametrize(
    ("note", "tells"),
    [
        ("old tool results were cleared in place", True),
        ("the conversation was compacted before call 4", True),
        ("the conversation was compacted after the last call", False),
        ("system prompt not recorded", False),
    ],
)
def test_notes_of_a_recording_are_quoted(note: str, tells: bool) -> None:
    made = found(played(with_changes(chat(2), notes=(note,)), None))
    assert ("captured_truncated" in made) is tells
    assert not tells or note in made["captured_truncated"].sentence


def test_tool_results_that_fill_the_window() -> None:
    made = played(agent(10), None)
    finding = found(made)["tool_output_share"]
    kinds = made.plan(10).kinds()
    assert finding.figures["tokens"] == kinds["tool_result"]
    assert finding.call == 10
    assert len(finding.span_ids) == 3
    assert "tool_output_share" not in found(played(chat(10), None))


def test_what_was_fetched_again() -> None:
    said = [user("Go.")]
    for number in range(2):
        said += [uses(f"c{number}", "read", path="a.py"), result(f"c{number}", "text " * 300)]
    transcript = run([*said, says("Done.")])
    finding = found(played(transcript, None))["fetched_again"]
    assert (finding.call, finding.span_ids, finding.figures) == (1, ("m2.0",), {"rereads": 1, "likelier": 0})
    masked = run([*said[:3], uses("x", "look"), result("x", "y " * 40), *said[3:], says("Done.")])
    made = found(played(masked, None, "mask_tool_results", keep=1, trigger=0))["fetched_again"]
    assert made.figures == {"rereads": 1, "likelier": 1}


def test_huge_results_that_nothing_refers_to() -> None:
    huge = "\n".join(f"line {n} of noise" for n in range(900))
    used = "\n".join(f"def price_of_item_{n}(): pass" for n in range(500))
    said = [
        user("Go."),
        uses("c1", "dump"),
        result("c1", huge),
        uses("c2", "read", path="prices.py"),
        result("c2", used),
        *(m for n in range(4) for m in (uses(f"d{n}", "look", q=f"price_of_item_{n}"), result(f"d{n}", "ok"))),
        says("Done with price_of_item_7."),
    ]
    made = played(run(said), None)
    finding = found(made)["never_referenced"]
    assert (finding.call, finding.span_ids) == (1, ("m2.0",))
    tokens = next(d.tokens_before for d in made.plan(6).decisions if d.span_id == "m2.0")
    assert finding.figures == {"results": 1, "tokens": 6 * tokens}


def test_reported_totals_that_grow_away_say_so() -> None:
    transcript = chat(8)
    sent = played(transcript, None).calls["in_window"]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    calls = tuple(
        with_changes(
            call,
            model="gpt-4o",
            usage=Usage(input=tokens + 200 + 120 * number, output=5),
            at=start + timedelta(minutes=number),
        )
        for number, (call, tokens) in enumerate(zip(transcript.calls, sent, strict=True))
    )
    made = played(with_changes(transcript, calls=calls), None)
    assert found(made)["not_what_was_sent"].sentence == made.calibration.problem
    assert found(made)["not_what_was_sent"].call == 7, "the call that lacks most"
    assert found(made)["drift_above_margin"].figures["calls"] == 7
    errors = [row.error or 0.0 for row in made.calibration.calls]
    assert found(made)["drift_above_margin"].call == errors.index(max(errors))
    exact = tuple(with_changes(call, usage=Usage(input=t)) for call, t in zip(calls, sent, strict=True))
    names = found(played(with_changes(transcript, calls=exact), None))
    assert "not_what_was_sent" not in names and "drift_above_margin" not in names


def places(finding: Finding, made: Replay) -> Sequence[str]:
    decisions = {decision.span_id for decision in made.plan(finding.call or 0).decisions}
    return [span_id for span_id in finding.span_ids if span_id not in decisions]


@pytest.mark.parametrize("name", ["coding_agent.jsonl", "long_chat.json", "operations_zh.json", "support_triage.jsonl"])
@pytest.mark.parametrize("kind", ["as_captured", "full_history", "keep_last", "tiered_injection", "span_triage"])
def test_every_finding_points_at_spans_of_its_call(name: str, kind: str) -> None:
    transcript = read(SAMPLES / name).transcripts[0]
    made = played(transcript, 4_000, kind)
    for finding in findings(made):
        assert finding.sentence.endswith(".")
        assert finding.call is None or 0 <= finding.call < len(transcript.calls)
        assert places(finding, made) == []
    order = [list(Level).index(finding.level) for finding in findings(made)]
    assert order == sorted(order)


def test_every_finder_is_registered_once() -> None:
    assert len({finder.__name__ for finder in FINDERS}) == len(FINDERS)
