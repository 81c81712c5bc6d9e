"""Harbor trajectories and Muse Code sessions."""

import json
from pathlib import Path

from core.readers import read
from core.transcript import Fidelity
from tests import small_agent_runs as small
from tests.small_runs import of, seen, usages


def test_a_step_of_the_agent_is_a_call_with_its_results() -> None:
    found = of(*small.ATIF)
    made, child = found.transcripts
    assert (found.format, found.problems) == ("harbor_atif", [])
    assert [call.model for call in made.calls] == ["m2", "m1"]
    assert usages(found) == [(100, 60, 9), (None, None, None)]
    assert seen(found, 1) == [
        ("system", "sys"),
        ("user", "task"),
        ("assistant", "old"),
        ("assistant", "sh()"),
        ("tool", "out"),
        ("user", "a note"),
    ]
    assert made.messages[2]["reasoning_content"] == "hm"
    assert [call.fidelity for call in made.calls] == [Fidelity.RECONSTRUCTED] * 2
    assert made.started is not None
    assert (child.session, child.meta) == ("s1-sub", {"agent": "helper", "parent_session": "s1"})
    assert child.calls[0].fidelity is Fidelity.PARTIAL


def test_sub_agents_in_other_files_are_named() -> None:
    row = json.loads(json.dumps(small.ATIF[0]))
    row["steps"][3]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": "s9"}]
    row["steps"][4]["llm_call_count"] = 0
    row["steps"].append(7)
    found = of(row)
    made = found.transcripts[0]
    assert (len(made.calls), made.meta["subagents"]) == (1, [{"session_id": "s9"}])
    assert [str(problem) for problem in found.problems] == ["the text: a step is no object. It was left out."]


def test_a_compaction_replaces_the_steps_that_it_names() -> None:
    told = {"context_management": {"type": "compaction"}, "compaction": {"steps_compacted": {"first_step_id": 2}}}
    steps = [
        {"source": "user", "message": "task"},
        {"source": "agent", "message": "one"},
        {"source": "system", "message": "m", "extra": told, "observation": {"results": [{"content": "so far"}]}},
        {"source": "agent", "message": "two"},
    ]
    found = of({"schema_version": "ATIF-v1.7", "agent": {}, "steps": steps})
    made = found.transcripts[0]
    assert seen(found, 1) == [("user", "task"), ("user", "so far")]
    assert [message["content"] for message in made.history(1)["messages"]] == ["task", "one"]
    assert "the conversation was compacted before call 2" in made.notes


def test_images_and_sources() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    steps = [
        {"source": "user", "message": [{"type": "text", "text": "see"}, image]},
        {"source": "robot", "message": "x"},
        {"source": "agent", "message": "ok"},
    ]
    found = of({"schema_version": "ATIF-v1.6", "agent": {}, "steps": steps})
    assert found.transcripts[0].messages[0]["content"][1] == {"type": "image_url", "image_url": {"url": "a.png"}}
    assert [problem.place for problem in found.problems] == ["step 2"]


def test_a_session_of_muse_code() -> None:
    found = of(*small.muse_code())
    made = found.transcripts[0]
    assert (found.format, made.session) == ("muse_code", "s1")
    assert usages(found) == [(20, 8, 3), (30, None, 4)]
    assert [call.model for call in made.calls] == ["muse-1", "muse-2"]
    assert seen(found, 1) == [("user", "task"), ("assistant", "I look bash()"), ("tool", "out")]
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (9, 7, 2)
    assert [str(problem) for problem in found.problems] == [
        "the text, line 9: 1 record of the unknown type 'grown' was left out. It may hold messages of a newer"
        " version of the format."
    ]


def test_a_real_session_of_muse_code(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "broken/specstory-musecode-malformed.jsonl")
    made = found.transcripts[0]
    assert (len(made.calls), len(made.messages), made.models) == (1, 2, ("muse-spark-1.2",))
    assert [problem.place for problem in found.problems] == ["line 3"]
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (5, 3, 1, 1)
