"""What real policies did in recordings, done again by our strategies, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

from core.runtime import ContextRuntime

KEEP_FIVE = {
    "kind": "mask_tool_results",
    "keep": 5,
    "trigger": 0,
    "placeholder": "Old environment output: ({lines} lines omitted)",
}


def test_the_last_five_observations_of_an_agent(transcripts_folder: Path) -> None:
    """Each step holds the messages as the agent's own processor made them of the history so far."""
    path = transcripts_folder / "swe-agent" / "marshmallow-1867-fn-calling-replace-from-source.traj"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    history, steps = recorded["history"], recorded["trajectory"]
    runtime = ContextRuntime.load({"strategy": KEEP_FIVE})
    session = runtime.session()
    masked = 0
    for step in steps:
        request = {"messages": history[: len(step["messages"])]}
        made = runtime.assemble(request)
        assert json.dumps(made.request["messages"]) == json.dumps(step["messages"])
        assert json.dumps(session.assemble(request).request) == json.dumps(made.request)
        masked += sum(decision.action == "stub" for decision in made.decisions)
    assert (len(steps), masked) == (13, 36)
