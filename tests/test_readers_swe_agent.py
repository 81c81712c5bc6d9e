"""SWE-agent trajectories, rows made of them, and mini-swe-agent: what was sent, and what happened."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity
from tests import small_agent_runs as small
from tests.small_runs import of, seen, usages

HISTORY = [("system", "s"), ("user", "demo"), ("assistant", "shown"), ("user", "task")]


def document(path: Path) -> Any:
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


@pytest.mark.parametrize("form", ["messages", "query"])
def test_what_was_sent_is_in_the_lists_of_the_steps(form: str) -> None:
    found = of(small.swe_agent(form))
    made = found.transcripts[0]
    assert (found.format, found.problems, len(made.calls)) == ("swe_agent", [], 3)
    first, second = [("assistant", "a0 bash()"), ("tool", "r0")], [("assistant", "a1 bash()"), ("tool", "r1")]
    assert seen(found, 0) == HISTORY
    assert seen(found, 1) == [*HISTORY, *first]
    assert seen(found, 2) == [*HISTORY, first[0], ("tool", "omitted"), *second]
    full = [(message["role"], message["content"]) for message in made.history(2)["messages"]]
    assert full == [*HISTORY, ("assistant", "a0"), ("tool", "r0"), ("assistant", "a1"), ("tool", "r1")]
    assert [call.response["content"] for call in made.calls if call.response] == ["a0", "a1", "a2"]
    assert made.models == ("gpt-4o",)


def test_shortened_prompts_are_noted() -> None:
    made = of(small.swe_agent()).transcripts[0]
    assert list(made.notes) == [
        "tool definitions not recorded",
        "old observations were shortened before they were sent, from call 3 on",
    ]
    assert [call.fidelity for call in made.calls] == [Fidelity.PARTIAL] * 3
    assert made.session == made.title == "astropy-1"
    assert made.meta == {"exit_status": "submitted", "tokens_sent": 10, "api_calls": 3, "environment": "main"}


def test_entries_are_written_as_they_are_sent() -> None:
    made = of(small.swe_agent()).transcripts[0]
    reply, result = made.messages[3:5]
    assert reply.keys() == {"role", "content", "tool_calls"}
    assert result == {"role": "tool", "content": "r0", "tool_call_id": "c0"}


def test_a_run_of_version_0_keeps_no_lists() -> None:
    found = of(*small.SWE_AGENT_0)
    main, helper = found.transcripts
    assert [len(made.calls) for made in found.transcripts] == [1, 1]
    assert seen(found, 0) == [("system", "s"), ("user", "task")]
    assert seen(found, 0, 1) == [("user", "sub task")]
    assert helper.meta == {
        "exit_status": "exit_cost",
        "environment": "swe_main",
        "agent": "helper",
        "parent_session": "",
    }
    assert main.calls[0].fidelity is Fidelity.RECONSTRUCTED
    assert main.messages[-1] == {"role": "user", "content": "o"}


def test_a_run_without_a_reply_holds_what_it_holds() -> None:
    found = of({"trajectory": [], "history": [], "info": {"exit_status": "early_exit"}})
    assert str(found.problems[0]).startswith("the text: the run has no messages (exit status: early_exit).")
    only_steps = {"trajectory": [{"action": "ls", "observation": "o", "response": "t"}], "info": {}}
    assert [len(made.calls) for made in of(only_steps).transcripts] == [1]


def test_a_row_of_a_data_set() -> None:
    found = of(*small.NEBIUS, *small.NEBIUS)
    assert (found.format, found.problems, len(found.transcripts)) == ("swe_agent", [], 2)
    assert seen(found, 0) == [("system", "s"), ("user", "task")]
    assert found.transcripts[0].models == ("llama",)
    assert found.transcripts[0].calls[0].fidelity is Fidelity.RECONSTRUCTED


def test_a_run_of_mini_swe_agent() -> None:
    found = of(small.mini_swe_agent())
    made = found.transcripts[0]
    assert (found.format, found.problems) == ("mini_swe_agent", [])
    assert usages(found) == [(100, 64, 7), (None, None, None)]
    assert [call.response is None for call in made.calls] == [False, True]
    assert seen(found, 1) == [("system", "s"), ("user", "task"), ("assistant", "bash()"), ("tool", "out")]
    assert made.messages[1].keys() == {"role", "content", "tool_calls"}
    assert made.calls[0].model == "deepseek-chat"
    assert made.calls[0].at is not None
    assert made.meta == {"exit_status": "Submitted", "exit": "done", "version": "2.2.7", "cost": 0.5, "api_calls": 2}
    assert list(made.notes) == ["tool definitions not recorded"]


def test_a_bare_list_of_mini_swe_agent_is_told_by_its_results() -> None:
    turns = [
        ("system", "s"),
        ("user", "task"),
        ("assistant", "```bash\nls\n```"),
        ("user", "<returncode>0</returncode>"),
    ]
    turns += [("assistant", "done"), ("user", "the patch")]
    found = of([{"role": role, "content": content} for role, content in turns])
    assert (found.format, len(found.transcripts[0].calls)) == ("mini_swe_agent", 2)
    assert {call.fidelity for call in found.transcripts[0].calls} == {Fidelity.RECONSTRUCTED}
    assert found.transcripts[0].notes == ()


def test_replies_of_the_responses_api_are_their_items() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}", "id": "f"}
    usage = {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 4}
    response = {
        "object": "response",
        "model": "gpt-5",
        "output": [{"type": "reasoning", "id": "r"}, item],
        "usage": usage,
    }
    result = {"type": "function_call_output", "call_id": "c1", "output": "out", "extra": {}}
    run = small.mini_swe_agent()
    found = of({**run, "messages": [*run["messages"][:2], {**response, "extra": {}}, result]})
    made = found.transcripts[0]
    assert (made.dialect, made.models) == ("openai_responses", ("gpt-5", "deepseek/x"))
    assert made.calls[0].usage.input == 50
    assert [wire.get("type") for wire in made.captured(1)["input"]] == [
        None,
        None,
        "reasoning",
        "function_call",
        "function_call_output",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "swe-agent/marshmallow-1867-fn-calling-replace-from-source.traj",
        "swe-agent/pandas-53652-swesmith.traj.gz",
        "swe-agent/pydicom-1458-gpt4.traj",
        "swe-agent/requests-1142-claude35.traj.gz",
    ],
)
def test_real_trajectories(transcripts_folder: Path, name: str) -> None:
    run, made = document(transcripts_folder / name), read(transcripts_folder / name).transcripts[0]
    replies = [
        at for at, entry in enumerate(run["history"]) if entry["role"] == "assistant" and not entry.get("is_demo")
    ]
    assert len(made.calls) == len(replies) == run["info"]["model_stats"]["api_calls"]
    for call, at in enumerate(replies):
        messages = made.history(call)["messages"]
        assert [wire["content"] for wire in messages] == [entry["content"] for entry in run["history"][:at]]
    for call, step in enumerate(run["trajectory"][:-1], 1):
        if "messages" in step:
            wires = made.captured(call)["messages"]
            assert [wire["content"] for wire in wires] == [entry["content"] for entry in step["messages"]]
            assert [wire["role"] for wire in wires] == [entry["role"] for entry in step["messages"]]


@pytest.mark.parametrize(
    ("name", "calls", "sent", "cached"),
    [
        ("mini-swe-agent/astroid-1333-188calls.traj.json.gz", 188, 9_528_745, 9_471_680),
        ("mini-swe-agent/django-11797.traj.json.gz", 156, 5_200_912, 5_160_448),
        ("mini-swe-agent/github_issue.traj.json", 10, 0, 0),
        ("mini-swe-agent/pvlib-1154-reasoner.traj.json", 1, 0, 0),
    ],
)
def test_real_runs_of_mini_swe_agent(transcripts_folder: Path, name: str, calls: int, sent: int, cached: int) -> None:
    run = document(transcripts_folder / name)
    messages = run if isinstance(run, list) else run["messages"]
    given = [turn["extra"]["response"]["usage"] for turn in messages if "response" in turn.get("extra", {})]
    made = read(transcripts_folder / name).transcripts[0]
    assert len(made.calls) == calls
    assert sum(call.usage.input or 0 for call in made.calls) == sum(usage["prompt_tokens"] for usage in given) == sent
    reads = sum(usage["prompt_cache_hit_tokens"] for usage in given)
    assert sum(call.usage.cache_read or 0 for call in made.calls) == reads == cached
