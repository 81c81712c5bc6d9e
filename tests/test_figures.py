"""The figures at the head of a transcript: a part of a prompt is never larger than the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.replay import replay
from core.transcript import Fidelity, Transcript
from pages.parts.figures import Figures, figures, floor_told
from tests.runs import run, says, tool, user
from tests.test_advice_sizes import reported

SYSTEM = "Rule: " + "x y z " * 200


def made(beyond: int, transcript: Transcript | None = None) -> Figures:
    spoken = transcript or run([user("Hello."), says("Hi.")], system=SYSTEM)
    return figures(replay(reported(spoken, beyond), {"strategy": {"kind": "as_captured"}}))


@pytest.mark.parametrize("beyond", [-500, -100, -1, 0, 100])
def test_the_fixed_floor_is_no_larger_than_the_peak_as_sent(beyond: int) -> None:
    found = made(beyond)
    assert 0 < found.floor <= found.peak_sent == found.peak + beyond


def test_a_floor_that_was_counted_too_high_is_corrected_in_proportion() -> None:
    found = made(-500)
    assert found.floor == found.counted_floor * found.peak_sent // found.peak < found.counted_floor
    assert found.smallest_floor == found.floor


@pytest.mark.parametrize("beyond", [0, 100])
def test_a_floor_that_was_not_counted_too_high_is_as_counted(beyond: int) -> None:
    found = made(beyond)
    assert found.floor == found.counted_floor


NO_SYSTEM, NO_TOOLS = "system prompt not recorded", "tool definitions not recorded"
TOOL = tool("look_up", "Looks it up.", q="string")
NOT_RECORDED = ("not recorded", "neither system nor tools")


def told(
    system: str = "", tools: Sequence[dict[str, Any]] = (), notes: tuple[str, ...] = (), partial: bool = False
) -> tuple[str, str]:
    made = with_changes(run([user("Hello."), says("Hi.")], system=system, tools=tools), notes=notes)
    if partial:
        made = with_changes(made, calls=tuple(with_changes(call, fidelity=Fidelity.PARTIAL) for call in made.calls))
    return floor_told(figures(replay(made, {"strategy": {"kind": "as_captured"}})))


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(
    ("system", "tools", "notes", "value", "parts"),
    [
        ("Be brief.", [TOOL], (), "{}", "system and tools"),
        ("Be brief.", [], (), "{}", "system only"),
        ("", [TOOL], (), "{}", "tools only"),
        ("Be brief.", [], (NO_TOOLS,), "at least {}", "system only"),
        ("", [TOOL], (NO_SYSTEM,), "at least {}", "tools only"),
        ("Be brief.", [TOOL], ("prompt not recorded",), "at least {}", "system and tools"),
        ("", [], (NO_SYSTEM,), *NOT_RECORDED),
        ("", [], (NO_TOOLS,), *NOT_RECORDED),
        ("", [], (NO_SYSTEM, NO_TOOLS), *NOT_RECORDED),
        ("", [], ("prompts not recorded",), *NOT_RECORDED),
    ],
)
def test_a_floor_of_which_a_part_is_not_recorded_is_no_whole_one(
    system: str, tools: list[dict[str, Any]], notes: tuple[str, ...], value: str, parts: str, partial: bool
) -> None:
    whole = figures(replay(run([user("a"), says("b")], system, tools), {"strategy": {"kind": "as_captured"}})).floor
    assert told(system, tools, notes, partial) == (value.format(whole), parts)


def test_nothing_in_a_partial_recording_is_not_recorded_and_in_a_whole_one_is_none() -> None:
    assert told(partial=True) == NOT_RECORDED
    assert told()[1] == "no system, no tools"


def test_a_large_part_that_was_reported_and_not_recorded_is_no_small_floor() -> None:
    assert floor_told(made(5_000, run([user("Hello."), says("Hi.")]))) == NOT_RECORDED


def test_a_floor_that_varies_tells_its_least_beside_what_is_recorded() -> None:
    found = made(0)
    varying = with_changes(found, smallest_floor=7)
    assert floor_told(varying) == (f"{found.floor:,}", "from 7")
    assert floor_told(with_changes(varying, floor_lacks_some=True)) == (
        f"at least {found.floor:,}",
        "system only, from 7",
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("gemini-contents/gemini-cli-trajectory.json", NOT_RECORDED),
        ("mini-swe-agent/astroid-1333-188calls.traj.json.gz", ("at least 18", "system only")),
        ("kimi-cli/agent-sessions-tools.jsonl", ("at least 26", "system only")),
        ("sharegpt/glaive-toolcall-zh.json", ("at least 100", "tools only")),
    ],
)
def test_recordings_tell_what_their_floor_lacks(file: str, said: tuple[str, str], transcripts_folder: Path) -> None:
    (transcript, *_) = read(transcripts_folder / file).transcripts
    assert floor_told(figures(replay(transcript, {"strategy": {"kind": "as_captured"}}))) == said
