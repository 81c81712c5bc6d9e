"""What stands behind "Counts and bill": marks, what is not recorded, drift, and the factor to set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.drift import Drift
from core.fitted_scale import Fit
from core.readers import read
from core.replay import Replay, replay
from core.tokens import Counter, TiktokenCounter, counter_from
from pages.parts.bill_view import drift_table, factor_told, is_in_use, sentences
from storage import Library
from tests.pages_app import Open, page, sample_database, shown, store
from tests.test_bill import chat

__all__ = ["page", "sample_database", "store"]


@pytest.mark.parametrize(
    ("beyond", "model", "said"),
    [
        (
            [None, None, None],
            "gpt-4o",
            [
                "Tokens sent in all by 3 calls: exact in 3.",
                "No usage was reported, so nothing says how far these counts are off.",
            ],
        ),
        (
            [100, 100, None],
            "gpt-4o",
            [
                "Tokens sent in all by 3 calls: reported in 2, calibrated in 1.",
                "Not recorded: 100 tokens, reported in 2 of 3 calls.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [100, None, 140],
            "claude-sonnet-4-5",
            [
                "Tokens sent in all by 3 calls: reported in 2, an estimate in 1.",
                "Not recorded: 100 tokens in the median, 100 to 140 a call, reported in 2 of 3 calls.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [-10, -12, -11],
            "claude-sonnet-4-5",
            [
                "Tokens sent in all by 3 calls: reported in 3.",
                "In tokens a call, counts are 10 to 12 too high; all figures follow the reports.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [100, 100, 100],
            "gpt-4o",
            [
                "Tokens sent in all by 3 calls: reported in 3.",
                "Not recorded: 100 tokens, the same in every call.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [100, None],
            "gpt-4o",
            [
                "Tokens sent in all by 2 calls: reported in 1, calibrated in 1.",
                "Not recorded: 100 tokens, reported in 1 of 2 calls.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [None, 100],
            "gpt-4o",
            [
                "Tokens sent in all by 2 calls: exact in 1, reported in 1.",
                "Not recorded: 100 tokens, reported in 1 of 2 calls.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [-10, None],
            "gpt-4o",
            [
                "Tokens sent in all by 2 calls: reported in 1, calibrated in 1.",
                "In tokens a call, counts are 10 too high, reported in 1 of 2 calls; all figures follow the reports.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [0, None, None],
            "gpt-4o",
            [
                "Tokens sent in all by 3 calls: reported in 1, calibrated in 2.",
                "Counts equal the reports, reported in 1 of 3 calls.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
        (
            [0, 0, 0],
            "gpt-4o",
            [
                "Tokens sent in all by 3 calls: reported in 3.",
                "Counts equal the reports in every call.",
                "Too few calls could be predicted to say how far counts drift.",
            ],
        ),
    ],
)
def test_what_reports_say_of_counts(beyond: list[int | None], model: str, said: list[str]) -> None:
    assert sentences(chat(beyond, model)) == said


def test_a_recording_that_is_not_what_was_sent_says_so() -> None:
    captured = chat([98, 123, 150])
    assert captured.calibration.problem in sentences(captured)


def drift(scale: float | None, floor: int = 35_583) -> Drift:
    fit = None if scale is None else Fit(scale, scale - 0.01, scale + 0.02, floor, 0.99)
    return Drift(62, -0.00023, 0.0035, 0.0065, fit, "o200k_base")


PLAIN, SCALED = TiktokenCounter("o200k_base"), TiktokenCounter("o200k_base", 1.2)


@pytest.mark.parametrize(
    ("scale", "floor", "begins", "ends"),
    [
        (None, 0, "", ""),
        (1.181, 35_583, "fits 1.181 for each token of o200k_base and 35,583 tokens that are not recorded. To", ":"),
        (1.181, 1, "fits 1.181 for each token of o200k_base and 1 token that is not recorded. To", ":"),
        (1.181, 0, "fits 1.181 for each token of o200k_base. To count with it, set in a configuration:", ":"),
        (1.181, -1_231, "fits 1.181 for each token of o200k_base, less 1,231 tokens that are counted too much", ":"),
        (4.29, 9, "grew by 4.290 for each token of o200k_base, more than any tokenizer", "no factor to set."),
        (0.4, 9, "grew by 0.400 for each token of o200k_base, fewer than any tokenizer", "no factor to set."),
    ],
)
def test_a_factor_is_told_with_what_it_is_good_for(scale: float | None, floor: int, begins: str, ends: str) -> None:
    said = factor_told(drift(scale, floor), PLAIN)
    assert said.startswith(begins) and said.endswith(ends)


@pytest.mark.parametrize(
    ("scale", "counter", "in_use"),
    [
        (1.197, SCALED, True),
        (1.209, SCALED, True),
        (1.179, SCALED, False),
        (1.211, SCALED, False),
        (1.197, PLAIN, False),
        (1.197, TiktokenCounter("cl100k_base", 1.2), False),
        (1.197, counter_from("chars4"), False),
        (None, SCALED, False),
    ],
)
def test_a_factor_like_the_one_in_use_is_none_to_set(scale: float | None, counter: Counter, in_use: bool) -> None:
    found = drift(scale)
    assert is_in_use(found, counter) is in_use
    assert ("within its range" in factor_told(found, counter)) is in_use


def test_counts_that_are_too_high_offer_no_factor_that_is_in_use(
    page: Open, store: Library, transcripts_folder: Path
) -> None:
    transcript = read(transcripts_folder / "claude-trace-http/claude-trace-part1.jsonl.gz").transcripts[4]
    text = shown(app := page("inspect_transcript.py", transcript=str(store.add(transcript).id)))
    assert "The factor in use lies within its range: there is none to set." in text
    assert "-1,231" not in text and ", less 1,231 tokens that are counted too much by formula." in text
    assert not [block for block in app.code if block.value.startswith('{"counter"')]


def test_the_table_has_a_row_for_each_model() -> None:
    rows = drift_table({"a": drift(1.181), "b": drift(None)}).values.tolist()
    assert rows == [
        ["a", 62, "−0.02%", "0.35%", "0.7%", "1.181  (1.171 to 1.201)"],
        ["b", 62, "−0.02%", "0.35%", "0.7%", "—"],
    ]


@pytest.mark.parametrize("name", ["inspect_transcript.py", "compare.py"])
def test_the_pages_show_it(name: str, page: Open, store: Library, transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / "claude-code/vct-v1.0.95.jsonl").transcripts
    app = page(name, transcript=str(store.add(transcript).id))
    assert "Tokens sent in all by 32 calls" in shown(app).replace("\\", "")
    made = replay(transcript, {"strategy": {"kind": "as_captured"}})
    assert json.loads(app.code[0].value) == {"counter": expected(made)}


def expected(captured: Replay) -> dict[str, str | float] | None:
    (found,) = captured.calibration.by_model.values()
    return found.counter
