"""From a replay to rows: when a span entered, how often it was sent, what changed, and the figures of the head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.sent_sizes import sizes_of
from core.transcript import Fidelity, Transcript, Usage
from pages.parts.figures import (
    Figures,
    about,
    corrected,
    exactness,
    fidelity,
    figures,
    lines_told,
    missing_range,
    missing_told,
)
from pages.parts.frames import (
    Block,
    Change,
    blocks,
    changes,
    compactions,
    kinds_used,
    pointer_columns,
    segments,
)
from pages.parts.palette import CORRECTION, NOT_RECORDED
from pages.parts.presence import presence, shortened_calls
from pages.parts.turns import bars_of_calls, turn_count
from tests.pages_app import sample

CAPTURED = {"strategy": {"kind": "as_captured"}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def run(*bodies: list[dict[str, Any]], **call: Any) -> Replay:
    builder = TranscriptBuilder("openai_chat")
    for messages in bodies:
        builder.call(builder.body({"model": "gpt-4o", "messages": messages}), **call)
    return replay(builder.build(), CAPTURED)


GROWING = [
    [system("s"), user("a")],
    [system("s"), user("a"), assistant("b"), user("c")],
    [system("s"), user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
]


def lives(captured: Replay, call: int) -> dict[str, tuple[int | None, int | None]]:
    return {row.text: (row.entered, row.sent) for row in blocks(captured, call, presence(captured)) if row.sent}


def test_a_span_entered_once_and_was_sent_with_every_later_call() -> None:
    captured = run(*GROWING)
    assert lives(captured, 2) == {"s": (1, 3), "a": (1, 3), "b": (2, 2), "c": (2, 2), "d": (3, 1), "e": (3, 1)}
    assert lives(captured, 0) == {"s": (1, 3), "a": (1, 3)}


def test_a_branch_counts_for_itself() -> None:
    captured = run([user("a"), assistant("b"), user("c")], [user("a"), assistant("B"), user("C")])
    assert lives(captured, 0) == {"a": (1, 2), "b": (1, 1), "c": (1, 1)}
    assert lives(captured, 1) == {"a": (1, 2), "B": (2, 1), "C": (2, 1)}


def test_a_changed_system_prompt_is_new_and_the_old_one_has_ended() -> None:
    captured = run([system("old"), user("a")], [system("new"), user("a"), assistant("b"), user("c")])
    assert lives(captured, 0)["old"] == (1, 1)
    assert lives(captured, 1)["new"] == (2, 1)
    assert lives(captured, 1)["a"] == (1, 2)


@pytest.mark.parametrize("call", range(20))
def test_the_rows_of_a_call_add_up_to_its_window(call: int) -> None:
    captured = replay(sample(), CAPTURED)
    rows = blocks(captured, call, presence(captured))
    assert sum(row.tokens for row in rows) == captured.calls["in_window"][call]
    assert all(row.tokens >= 0 for row in rows)
    assert len({row.id for row in rows}) == len(rows)


def test_what_is_new_changed_and_gone_is_told_apart() -> None:
    before = [
        Block("s0", "instructions", "", "old", 5),
        Block("m0", "user", "", "a", 3),
        Block("m1", "user", "", "b", 2),
    ]
    now = [
        Block("s0", "instructions", "", "longer", 9),
        Block("m0", "user", "", "a", 3),
        Block("m2", "user", "", "c", 4),
    ]
    assert [(change.what, change.block.id, change.tokens) for change in changes(now, before)] == [
        ("changed", "s0", 4),
        ("new", "m2", 4),
        ("gone", "m1", -2),
    ]
    assert changes(now, now) == []
    assert Change("new", now[0]).tokens == 9


def test_a_window_that_became_clearly_smaller_is_marked() -> None:
    long = "word " * 400
    captured = run(
        [user(long)],
        [user(long), assistant("b"), user(long)],
        [user("summary"), assistant("b"), user("go on")],
        [user("summary"), assistant("b"), user("go on"), assistant("d"), user("e")],
    )
    assert shortened_calls(captured.transcript) == [2]
    rows = compactions(captured, bars_of_calls(captured.calls["in_window"], 3))
    before, after = captured.calls["in_window"][1:3]
    assert rows[["place", "tokens", "label"]].values.tolist() == [[3, before, f"{before:,} → {after:,}"]]


def test_turns_go_on_after_a_compaction() -> None:
    captured = run(*GROWING, [user("summary"), assistant("b"), user("go on")], [user("s"), assistant("b"), user("c")])
    assert turn_count(run(*GROWING)) == 3
    assert turn_count(captured) == 4
    assert turn_count(run([system("s")])) == 0


def test_a_prompt_that_goes_on_is_not_marked() -> None:
    captured = run(*GROWING)
    assert shortened_calls(captured.transcript) == []
    assert compactions(captured, bars_of_calls(captured.calls["in_window"], 3)).empty


def test_figures_tell_unknown_from_zero() -> None:
    found = figures(run(*GROWING))
    assert (found.billed, found.cached, found.missing) == (None, None, None)
    found = figures(run(*GROWING, usage=Usage(input=0)))
    assert (found.billed, found.missing) == (0, None)


def test_missing_is_what_lies_in_the_middle_and_never_negative() -> None:
    captured = run(*GROWING)
    tokens = captured.calls["in_window"]
    found = figures(reporting(500, 500, 500))
    assert found.missing == 500 - tokens[1] == captured_hidden(500)
    assert (found.least_missing, found.most_missing) == (500 - tokens[2], 500 - tokens[0])
    assert found.peak_sent == 500 and corrected(found) == ""
    low = figures(reporting(9, 9, 9))
    assert low.missing == 0 and low.least_missing == 9 - tokens[2]
    assert "less than counted" in corrected(low)


def reporting(*inputs: int | None) -> Replay:
    """Return a growing chat with these reported totals."""
    builder = TranscriptBuilder("openai_chat")
    for messages, tokens in zip(GROWING, inputs, strict=True):
        builder.call(builder.body({"model": "gpt-4o", "messages": messages}), usage=Usage(input=tokens))
    return replay(builder.build(), CAPTURED)


def captured_hidden(tokens: int) -> int | None:
    return reporting(tokens, tokens, tokens).calibration.hidden


@pytest.mark.parametrize(
    ("inputs", "kind", "beyond", "mark"),
    [
        ((113, 123, 133), NOT_RECORDED, 100, "reported"),
        ((113, 123, None), NOT_RECORDED, 100, "calibrated"),
        ((8, 18, 28), CORRECTION, -5, "reported"),
        ((13, 23, 33), None, 0, ""),
        ((None, None, None), None, None, ""),
    ],
)
def test_what_is_beyond_the_count_is_a_row_of_its_own(
    inputs: tuple[int | None, ...], kind: str | None, beyond: int | None, mark: str
) -> None:
    captured = reporting(*inputs)
    assert captured.calls["in_window"] == [13, 23, 33] and captured.calls["not_recorded"][2] == beyond
    rows = blocks(captured, 2, presence(captured))
    found = [(row.kind, row.tokens, row.exactness) for row in rows if row.kind in (NOT_RECORDED, CORRECTION)]
    assert found == ([(kind, beyond, mark)] if kind else [])
    assert sum(row.tokens for row in rows) == captured.calls["sent"][2] == 33 + (beyond or 0)


def test_bars_are_as_high_as_the_bill() -> None:
    captured = reporting(113, 123, 133)
    bars = bars_of_calls(captured.calls["sent"], 3)
    frame = segments(captured, bars)
    assert frame.groupby("place")["high"].max().tolist() == [113, 123, 133]
    assert frame[frame["kind"] == NOT_RECORDED][["low", "high"]].values.tolist() == [[0, 100]] * 3
    tips = pointer_columns(captured, bars)
    assert tips[["in_window", NOT_RECORDED, "sent"]].values.tolist() == [[13, 100, 113], [23, 100, 123], [33, 100, 133]]
    assert CORRECTION not in tips
    over = pointer_columns(reporting(8, 18, 28), bars)
    assert over[CORRECTION].tolist() == [-5, -5, -5] and over["sent"].tolist() == [8, 18, 28]
    assert NOT_RECORDED not in over and "sent" not in pointer_columns(reporting(None, None, None), bars)


def test_the_peak_is_the_largest_prompt_and_names_its_call() -> None:
    found = figures(replay(sample(), CAPTURED))
    sent = replay(sample(), CAPTURED).calls["in_window"]
    assert (found.peak, found.peak_call) == (max(sent), list(sent).index(max(sent)))


def test_a_transcript_without_calls_has_figures() -> None:
    empty = replay(Transcript("openai_chat", (), (), (), ()), CAPTURED)
    assert (figures(empty).peak, figures(empty).entered, kinds_used(empty)) == (0, 0, [])
    assert fidelity(empty.transcript) == "no calls"


def test_the_least_fidelity_counts() -> None:
    builder = TranscriptBuilder("openai_chat")
    for level in (Fidelity.CAPTURED, Fidelity.PARTIAL, Fidelity.RECONSTRUCTED):
        builder.call(builder.body({"messages": [user("a")]}), fidelity=level)
    assert fidelity(builder.build()) == "partial"


@pytest.mark.parametrize(("tokens", "text"), [(0, "0"), (7, "7"), (99, "99"), (347, "350"), (34_567, "35,000")])
def test_what_is_known_roughly_is_written_with_two_digits(tokens: int, text: str) -> None:
    assert about(tokens) == text


@pytest.mark.parametrize(
    ("counter", "text"),
    [
        ({}, "Texts are counted exactly (o200k_base); frames, tools and images by formula."),
        (
            {"kind": "tiktoken", "encoding": "o200k_base", "scale": 1.2},
            "Texts are an estimate (o200k_base × 1.2, the model's own encoding is not known);"
            " frames, tools and images by formula.",
        ),
        ({"kind": "chars4"}, "Texts are an estimate (chars4); without frames."),
    ],
)
def test_exactness_is_said_in_a_sentence(counter: dict[str, Any], text: str) -> None:
    builder = TranscriptBuilder("openai_chat")
    builder.call(builder.body({"model": "gpt-4o", "messages": [user("a")]}))
    assert exactness(replay(builder.build(), {**CAPTURED, "counter": counter})) == text


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (0, 0, "the same in every call"),
        (40, 40, "the same in every call"),
        (-5, 1_240, "−5 to 1,240 a call"),
        (0, 9, "0 to 9 a call"),
        (-1_200, 0, "counts are 0 to 1,200 too high"),
        (-12, -10, "counts are 10 to 12 too high"),
        (-7, -7, "counts are 7 too high"),
    ],
)
def test_the_range_of_what_is_not_recorded(least: int, most: int, said: str) -> None:
    assert missing_range(least, most) == said


LINES_OF_RECORDED = (
    " Lines and the soft limit are about what is recorded, which is all that a strategy sees."
    " Sent beside it, in tokens a call: about 480."
)


@pytest.mark.parametrize(
    ("reported", "lacks", "said"),
    [
        ((), (), ""),
        ((500, 500, 500), (), LINES_OF_RECORDED),
        ((500, 500, 500), ("the system prompt",), LINES_OF_RECORDED),
        ((9, 9, 9), (), " Lines are as counted; the provider reported less."),
        ((), ("the system prompt",), " Lines are what is recorded, without the system prompt, which is not recorded."),
    ],
)
def test_lines_say_what_is_sent_beside_them(reported: tuple[int, ...], lacks: tuple[str, ...], said: str) -> None:
    made = reporting(*reported) if reported else run(*GROWING)
    sizes = replace(sizes_of(made, 0), lacks=lacks)
    assert lines_told(figures(made), sizes) == said


@pytest.mark.parametrize("least", [0, 40])
def test_what_only_some_calls_report_is_not_said_of_every_call(least: int) -> None:
    assert missing_range(least, least, "reported in 1 of 2 calls") == "reported in 1 of 2 calls"
    assert missing_range(least, 90, "reported in 2 of 3 calls") == f"{least} to 90 a call"


@pytest.mark.parametrize(
    ("missing", "least", "most", "said"),
    [
        (None, 0, 0, "unknown"),
        (0, -5, 0, "0"),
        (15_548, 15_548, 15_548, "15,548"),
        (15_548, 15_000, 16_100, "about 16,000"),
    ],
)
def test_what_all_calls_have_alike_is_told_exactly(missing: int | None, least: int, most: int, said: str) -> None:
    assert missing_told(Figures(9, 0, 9, 0, 0, 0, None, 0, None, missing, least, most)) == said
