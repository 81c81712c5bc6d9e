"""OpenHands: events of three generations as messages, calls and results."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity
from tests import small_agent_runs as small
from tests.small_runs import of, seen, usages
from tests.test_readers_bundles import folder, table, zipped

RECALLED = "be careful\n\nknow this"


def test_a_list_of_events_is_one_run() -> None:
    found = of(small.openhands())
    made = found.transcripts[0]
    assert (found.format, found.problems, len(found.transcripts)) == ("openhands", [], 1)
    assert seen(found, 0) == [("system", "sys"), ("user", "task"), ("user", RECALLED)]
    assert seen(found, 1)[3:] == [
        ("assistant", "both f() f()"),
        ("tool", "out a\n[Current working directory: /w]\n[Command finished with exit code 0]"),
        ("tool", "bad b\n[Error occurred in processing last action]"),
    ]
    assert usages(found) == [(102, 40, 5), (103, 40, 5), (104, 40, 5)]
    assert made.models == ("claude-x",)
    assert made.meta == {"ignored": {"recall": 1, "agent_state_changed": 1}}
    assert [call.fidelity for call in made.calls] == [Fidelity.RECONSTRUCTED] * 3


def test_a_condensation_takes_events_out_of_the_window_only() -> None:
    found = of(small.openhands())
    made = found.transcripts[0]
    summary = "<CONVERSATION SUMMARY>\nab\n</CONVERSATION SUMMARY>"
    assert seen(found, 2) == [
        ("system", "sys"),
        ("user", "task"),
        ("user", RECALLED),
        ("user", summary),
        ("assistant", "f()"),
        ("tool", "Your thought has been logged."),
    ]
    assert [message["role"] for message in made.history(2)["messages"]] == [
        *["system", "user", "user", "assistant", "tool", "tool", "assistant", "tool"],
    ]
    assert list(made.notes) == [
        "context that was recalled is rebuilt from its parts, not as it was worded",
        "the conversation was compacted before call 3",
    ]


def test_forgotten_events_may_be_listed() -> None:
    events = small.openhands()
    events[11]["args"] = {"forgotten_event_ids": [3, 4, 5, 6, 7], "summary": None}
    found = of(events)
    assert seen(found, 2) == [
        ("system", "sys"),
        ("user", "task"),
        ("assistant", "f()"),
        ("tool", "Your thought has been logged."),
    ]


def test_rows_and_single_events() -> None:
    found = of(small.openhands_row(), small.openhands_row(instance_id="x-2", error="stopped", history=[]))
    made = found.transcripts[0]
    assert (made.title, made.session, made.meta["agent_class"]) == ("x-1", "x-1", "CodeActAgent")
    assert [str(problem) for problem in found.problems] == [
        "the text, line 2: the run has no events (error: stopped). A list of events, or a row with a `history` of them,"
        " was expected."
    ]
    loose = of(*small.openhands(), {"x": 1})
    assert (len(loose.transcripts), loose.counts.used, loose.counts.broken) == (1, 13, 1)
    assert loose.transcripts[0].calls == of(small.openhands()).transcripts[0].calls


def test_usage_of_a_row_stands_in_for_that_of_responses() -> None:
    events = small.openhands()
    for event in events:
        event.get("tool_call_metadata", {}).get("model_response", {}).pop("usage", None)
    told = {"response_id": "r22", "prompt_tokens": 9, "completion_tokens": 2, "cache_read_tokens": 4}
    found = of(small.openhands_row(history=events, metrics={"token_usages": [told], "accumulated_cost": 0.5}))
    assert usages(found) == [(None, None, None), (9, 4, 2), (None, None, None)]
    assert found.transcripts[0].meta["cost"] == 0.5


def test_what_was_delegated_is_a_transcript_of_its_own() -> None:
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "task"}},
        {"id": 1, "source": "agent", "action": "delegate", "args": {"agent": "Browsing", "thought": "go"}},
        {"id": 2, "source": "user", "action": "message", "args": {"content": "TASK: look"}},
        {"id": 3, "source": "agent", "action": "message", "args": {"content": "found"}},
        {"id": 4, "source": "agent", "observation": "delegate", "content": "it found"},
        {"id": 5, "source": "agent", "action": "message", "args": {"content": "done"}},
    ]
    found = of({"history": events, "instance_id": "i"})
    main, child = found.transcripts
    assert child.meta == {"agent": "Browsing", "parent_session": "i"}
    assert seen(found, 0, 1) == [("user", "TASK: look")]
    assert seen(found, 1)[-1] == ("user", "OBSERVATION:\nit found")
    assert len(main.calls) == 2


def test_old_rows_are_texts() -> None:
    found = of({"instance_id": "x", "history": small.openhands_old(), "metadata": {"agent_class": "CodeActAgent"}})
    made = found.transcripts[0]
    assert seen(found, 1) == [
        ("user", "task"),
        ("assistant", "look\n<execute_bash>\nls\n</execute_bash>"),
        ("user", "OBSERVATION:\nfiles"),
    ]
    assert made.calls[1].response == {"role": "assistant", "content": "bye"}
    assert "the model's responses are not recorded: calls and results are texts rebuilt from actions" in made.notes


def test_events_of_the_agent_sdk() -> None:
    found = of(small.openhands_sdk())
    made = found.transcripts[0]
    assert (found.format, found.problems, len(made.calls)) == ("openhands", [], 2)
    assert seen(found, 0) == [("system", "sys"), ("user", "look")]
    assert [call["id"] for call in made.calls[0].response["tool_calls"]] == ["c1", "c2"]  # type: ignore[index]
    assert seen(found, 1) == [("system", "sys"), ("user", "look"), ("user", "so far")]
    assert [(message["role"], message["content"]) for message in made.history(1)["messages"]][2:] == [
        ("assistant", "look"),
        ("tool", "o1"),
        ("tool", "no\n[Error occurred in processing last action]"),
    ]
    assert [call.fidelity for call in made.calls] == [Fidelity.RECONSTRUCTED] * 2
    assert made.meta == {"ignored": {"ConversationStateUpdateEvent": 1}}


def test_events_that_are_files_of_their_own(tmp_path: Path) -> None:
    events = small.openhands_sdk()
    files: dict[str, str | bytes] = {
        f"run/events/event-{n:05d}-x.json": json.dumps(event) for n, event in enumerate(events)
    }
    found = read(folder(tmp_path, {**files, "run/notes.txt": "x"}))
    assert sorted(table(found)) == [("run/events", "openhands", 1, 0), ("run/notes.txt", None, 0, 1)]
    assert found.transcripts[0].calls == of(events).transcripts[0].calls
    [file] = [file for file in found.files if file.format]
    assert (file.counts.read, file.counts.used) == (9, 9)
    alone = read(zipped(dict(reversed(files.items()))))
    assert (alone.format, len(alone.transcripts), alone.files) == ("openhands", 1, [])
    assert alone.transcripts[0].source == "the archive"


def events_of(row: Any) -> list[Any]:
    return row["history"] if isinstance(row, dict) else row


@pytest.mark.parametrize(
    ("name", "calls", "messages"),
    [
        ("openhands/gui-mode-trajectory.json", [5], [10]),
        ("openhands/wrong-initial-state.json", [4], [8]),
        ("openhands/multi-swe-bench-output.jsonl", [23, 33, 49], [47, 68, 101]),
    ],
)
def test_real_runs(transcripts_folder: Path, name: str, calls: list[int], messages: list[int]) -> None:
    text = (transcripts_folder / name).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else [json.loads(text)]
    made = read(transcripts_folder / name).transcripts
    assert [len(one.calls) for one in made] == calls
    for row, one in zip(rows, made, strict=True):
        responses = {}
        results = 0
        for event in events_of(row):
            told = event.get("tool_call_metadata") or {}
            if told and "action" in event:
                responses[told["model_response"]["id"]] = told["model_response"]["usage"]
            results += bool(told and "observation" in event)
        assert sum(call.usage.input or 0 for call in one.calls) == sum(u["prompt_tokens"] for u in responses.values())
        assert sum(wire["role"] == "tool" for wire in one.messages) == results
    assert [len(one.messages) for one in made] == messages


def test_roles_of_a_real_run(transcripts_folder: Path) -> None:
    made = read(transcripts_folder / "openhands/gui-mode-trajectory.json").transcripts[0]
    assert Counter(wire["role"] for wire in made.messages) == {"user": 1, "assistant": 5, "tool": 4}
