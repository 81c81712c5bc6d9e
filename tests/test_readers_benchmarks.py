"""Benchmark runs: tau-bench, tau2-bench, AgentBench, ToolBench and ToolEval."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity
from tests import small_runs as small
from tests.small_runs import of, seen, usages


def test_a_run_of_tau_bench() -> None:
    found = of(*small.TAU)
    assert (found.format, len(found.transcripts)) == ("tau_bench", 1)
    made = found.transcripts[0]
    assert (made.session, dict(made.meta)) == (
        "task 7, trial 1",
        {"task": 7, "trial": 1, "reward": 1.0, "user": "mia"},
    )
    assert seen(found, 1) == [("system", "policy"), ("user", "cancel it"), ("assistant", "f()"), ("tool", "ok")]
    assert len(made.calls) == 2
    assert made.messages[-1] == {"role": "user", "content": "###STOP###"}
    assert [call.fidelity for call in made.calls] == [Fidelity.PARTIAL] * 2
    assert list(made.notes) == ["tool definitions not recorded"]
    assert [str(problem) for problem in found.problems] == [
        "the text, item 2: the run failed before its first message (timeout). It was left out."
    ]


def test_both_sides_of_tau2_are_models() -> None:
    found = of(*small.TAU2)
    agent, user = found.transcripts
    assert (found.format, found.problems) == ("tau2_bench", [])
    assert (agent.session, user.session) == ("s1/agent", "s1/user")
    assert (agent.meta["other_side"], user.meta["other_side"]) == ("s1/user", "s1/agent")
    assert (agent.models, user.models) == (("gpt-agent",), ("gpt-user",))
    assert usages(found) == [(100, None, 5), (120, None, 6)]
    assert usages(found, 1) == [(50, None, 2), (60, None, 3), (70, None, 4)]
    assert seen(found, 1) == [
        ("system", "the policy"),
        ("assistant", "Hi!"),
        ("user", "no signal"),
        ("assistant", "find()"),
        ("tool", "found"),
    ]
    assert seen(found, 2, 1) == [
        ("user", "Hi!"),
        ("assistant", "no signal"),
        ("user", "look at it"),
        ("assistant", "see()"),
        ("tool", "off"),
    ]
    assert agent.heads[0]["temperature"] == 0.0
    assert list(user.notes) == ["system prompt not recorded", "tool definitions not recorded"]


def test_without_usage_the_first_line_of_the_agent_is_no_call() -> None:
    results = json.loads(json.dumps(small.TAU2[0]))
    for message in results["simulations"][0]["messages"]:
        message["usage"] = None
    agent, user = of(results).transcripts
    assert (len(agent.calls), len(user.calls)) == (2, 3)


def test_tools_that_tau2_records_are_taken() -> None:
    results = json.loads(json.dumps(small.TAU2[0]))
    results["info"]["environment_info"]["tool_defs"] = [{"name": "find", "parameters": {}}]
    agent, user = of(results).transcripts
    assert [tool["function"]["name"] for tool in agent.heads[0]["tools"]] == ["find"]
    assert "tools" not in user.heads[0]


def test_ticks_of_a_voice_simulation_are_joined() -> None:
    found = of(*small.VOICE)
    assert len(found.transcripts) == 2
    assert seen(found, 0) == [("user", "hello")]
    assert found.transcripts[0].calls[0].response == {"role": "assistant", "content": "hi"}


def test_a_voice_simulation_without_text_is_refused() -> None:
    silent = json.loads(json.dumps(small.VOICE[0]))
    for tick in silent["ticks"]:
        for side in ("user_chunk", "agent_chunk"):
            tick[side].pop("content", None)
    found = of(silent)
    assert [str(problem) for problem in found.problems] == [
        "the text: this is a voice simulation whose ticks hold no text, so there is nothing to show. Give a run in text"
        " mode, or one whose chunks keep their `content`."
    ]
    both = {**small.TAU2[0], "simulations": [*small.TAU2[0]["simulations"], silent]}
    found = of(both)
    assert (len(found.transcripts), len(found.problems)) == (2, 1)


def test_a_run_of_agentbench() -> None:
    found = of(*small.AGENTBENCH)
    made = found.transcripts[0]
    assert (found.format, found.problems, made.session) == ("agentbench", [], "run 3")
    assert seen(found, 1) == [("user", "do it"), ("assistant", "GET x"), ("user", "y")]
    assert made.meta == {
        "index": 3,
        "status": "completed",
        "result": "[1]",
        "ended": "2025-01-17T23:55:37.875000+00:00",
    }
    assert list(made.notes) == ["system prompt not recorded"]


def test_a_failed_run_of_agentbench_is_told() -> None:
    failed = {"index": 4, "error": "AgentFailed", "info": "x", "output": None, "time": {}}
    found = of(*small.AGENTBENCH, failed)
    assert [str(problem) for problem in found.problems] == [
        "the text, line 2: the run has no history (status: AgentFailed). Runs that failed at their start were left out."
    ]


def test_episodes_of_agentbench() -> None:
    found = of(*small.EPISODES)
    assert [made.title for made in found.transcripts] == ["react_put_0", "act_clean_1"]
    assert [len(made.calls) for made in found.transcripts] == [1, 1]
    assert seen(found, 0) == [("user", "you see a door")]
    assert "its texts have no roles" in found.transcripts[0].notes[0]
    assert of({"names": ["a", "b"], "act_x": ["c"]}).transcripts == []


def test_an_answer_of_toolbench_is_its_calls_and_the_search() -> None:
    found = of(*small.toolbench())
    answer, search = found.transcripts
    assert (found.format, found.problems) == ("toolbench", [])
    assert [call.fidelity for call in answer.calls] == [Fidelity.CAPTURED] * 2
    assert seen(found, 1) == [
        ("system", "s"),
        ("user", "q"),
        ("assistant", "f()"),
        ("function", "r"),
        ("user", "not the first time"),
    ]
    assert answer.meta == {"total_tokens": 99, "query_count": 4, "finish_type": "give_answer", "solved": True}
    assert [seen(found, at, 1)[1:] for at in range(3)] == [
        [("user", "q")],
        [("user", "q"), ("assistant", "f()"), ("function", "r")],
        [("user", "q"), ("assistant", "f()"), ("function", "r")],
    ]
    assert [small.said(call.response) for call in search.calls] == ["f()", "give up", "go on Finish()"]
    assert answer.heads[0]["functions"] == search.heads[0]["functions"] == [{"name": "f", "parameters": {}}]


def test_an_answer_without_a_tree_is_its_calls() -> None:
    [row] = small.toolbench()
    found = of({"trys": [], "answer_generation": row["answer_generation"]})
    assert (found.format, [len(made.calls) for made in found.transcripts]) == ("toolbench", [2])
    empty = of({"tree": {}, "answer_generation": {"valid_data": False, "train_messages": []}})
    assert str(empty.problems[0]).startswith("the text: the answer holds neither messages nor a search tree.")


def test_results_of_tooleval() -> None:
    found = of(*small.tooleval())
    made = found.transcripts[0]
    assert (found.format, found.problems, made.session) == ("toolbench_eval", [], "11")
    assert [small.said(call.response) for call in made.calls] == ["f()", "g()", "so then Finish()"]
    assert seen(found, 2) == [
        ("user", "q"),
        ("assistant", "f()"),
        ("function", 'it\'s "ok"'),
        ("assistant", "g()"),
        ("function", ""),
    ]
    assert "1 of 3 tool entries is cut at 100 characters in the file" in made.notes


def document(path: Path) -> Any:
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def test_the_real_runs_of_tau_bench(transcripts_folder: Path) -> None:
    path = transcripts_folder / "tau-bench/gpt-4o-airline.json.gz"
    runs = document(path)
    found = read(path)
    assert len(found.transcripts) == len(runs) == 200
    replies = [sum(turn["role"] == "assistant" for turn in run["traj"]) for run in runs]
    assert [len(made.calls) for made in found.transcripts] == replies
    assert sum(replies) == 2454
    assert [len(made.messages) for made in found.transcripts] == [len(run["traj"]) - 1 for run in runs]


def test_the_real_results_of_tau2(transcripts_folder: Path) -> None:
    path = transcripts_folder / "tau2-bench/gpt-4.1-telecom-1trial.json.gz"
    turns = [turn for run in document(path)["simulations"] for turn in run["messages"]]
    billed = Counter(turn["role"] for turn in turns if turn.get("usage"))
    sent = sum(turn["usage"]["prompt_tokens"] for turn in turns if turn.get("usage"))
    made = read(path).transcripts
    sides = Counter({"assistant": 0, "user": 0})
    for one in made:
        sides["assistant" if one.meta["side"] == "agent" else "user"] += len(one.calls)
    assert sides == billed == {"user": 889, "assistant": 620}
    assert sum(call.usage.input or 0 for one in made for call in one.calls) == sent
    results = sum(turn["role"] == "tool" for turn in turns)
    assert sum(wire["role"] == "tool" for one in made for wire in one.messages) == results == 689


@pytest.mark.parametrize(
    ("name", "transcripts", "calls", "messages"),
    [
        ("agentbench/alfworld-multiturn-prompts.json", 36, 432, 866),
        ("agentbench/medagentbench-gemini2-runs.jsonl.gz", 46, 86, 172),
        ("toolbench/tooleval-G3-cot-results.json", 100, 512, 1084),
    ],
)
def test_real_runs(transcripts_folder: Path, name: str, transcripts: int, calls: int, messages: int) -> None:
    made = read(transcripts_folder / name).transcripts
    assert len(made) == transcripts
    assert sum(len(one.calls) for one in made) == calls
    assert sum(len(one.messages) for one in made) == messages


@pytest.mark.parametrize("name", ["toolbench/G1-57-dfs.json", "toolbench/G3-13-dfs.json"])
def test_real_answers_of_toolbench(transcripts_folder: Path, name: str) -> None:
    lists = document(transcripts_folder / name)["answer_generation"]["train_messages"]
    answer, search = read(transcripts_folder / name).transcripts
    assert [answer.captured(call)["messages"] for call in range(len(answer.calls))] == [one[:-1] for one in lists]
    assert [call.response for call in answer.calls] == [one[-1] for one in lists]
    assert answer.models == search.models == ()
