"""A window that the recording contradicts is told of, and no other one."""

from __future__ import annotations

from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import pytest

from core.config import load_config
from core.export import pinned
from core.finding import Finding, Level
from core.findings import findings
from core.models import profile
from core.readers import read
from core.replay import replay
from core.transcript import Transcript, Usage
from storage import Library
from tests.pages_app import Open, page, sample_database, shown, store
from tests.runs import run, says, user

__all__ = ["page", "sample_database", "store"]

WINDOW = 128_000


def answered(*inputs: int | None) -> Transcript:
    made = run([message for _ in inputs for message in (user("And?"), says("Yes."))])
    calls = zip(made.calls, inputs, strict=True)
    return with_changes(made, calls=tuple(with_changes(call, usage=Usage(tokens)) for call, tokens in calls))


def told(transcript: Transcript, **model: Any) -> list[Finding]:
    """Return the finding, where the window is what is known unless another one is set."""
    said = {"model": model, "strategy": {"kind": "as_captured"}}
    made = replay(transcript, pinned(load_config(said), transcript))
    return [finding for finding in findings(made) if finding.name == "window_contradicted"]


def test_an_answered_call_above_the_known_window_contradicts_it() -> None:
    (finding,) = told(answered(9, 130_000, 131_000, WINDOW))
    assert (finding.level, finding.call) == (Level.WARNING, 2)
    assert finding.figures == {"calls": 2, "largest": 131_000, "window": WINDOW}
    assert finding.sentence == (
        "2 calls were answered with more tokens than the 128,000 that are known as the window of gpt-4o, the largest,"
        " call 3, with 131,000. So the window is larger, unless the report of a call adds up several requests: set the"
        " window, on which the soft budget rests."
    )
    assert told(answered(130_000))[0].sentence.startswith(
        "Call 1 was answered with more tokens than the 128,000 that are known as the window of gpt-4o, with 130,000."
    )


@pytest.mark.parametrize("inputs", [(WINDOW, WINDOW), (None, None), (0, 0)])
def test_what_fits_or_is_not_reported_contradicts_nothing(inputs: tuple[int | None, ...]) -> None:
    assert not told(answered(*inputs))


def test_a_call_without_an_answer_contradicts_nothing() -> None:
    transcript = answered(130_000)
    assert not told(with_changes(transcript, calls=tuple(with_changes(c, response=None) for c in transcript.calls)))


@pytest.mark.parametrize(
    "model", [{"window": 100_000}, {"window": 200_000}, {"name": "gpt-4"}, {"name": "in-house-7b"}]
)
def test_a_window_that_a_person_set_or_of_another_model_is_not_contradicted(model: dict[str, Any]) -> None:
    assert not told(answered(130_000), **model)


def test_no_recording_contradicts_the_window_of_deepseek(transcripts_folder: Path) -> None:
    """Its provider answered 101,667 tokens, so the 64,000 of its first model are no limit any more."""
    (transcript,) = read(transcripts_folder / "mini-swe-agent/astroid-1333-188calls.traj.json.gz").transcripts
    window = profile("deepseek-chat").window
    assert window is not None and max(call.usage.input or 0 for call in transcript.calls) == 101_667 < window
    assert not told(transcript)


def test_the_page_says_so_below_the_figures(page: Open, store: Library) -> None:
    said = "So the window is larger, unless"
    over = str(store.add(answered(9, 131_000)).id)
    assert said in shown(page("inspect_transcript.py", transcript=over))
    assert said not in shown(page("inspect_transcript.py", transcript=over, window="200000"))
