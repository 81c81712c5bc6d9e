"""What real policies did in recordings, done again by our strategies: the same bytes, or the same messages kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.readers import read
from core.runtime import ContextRuntime
from core.transcript import Transcript
from core.wire import dump

KEEP_FIVE = {
    "kind": "mask_tool_results",
    "keep": 5,
    "trigger": 0,
    "placeholder": "Old environment output: ({lines} lines omitted)",
}
SUMMARISED = {"kind": "tiered_injection", "trigger": 0, "summary": "model"}


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


def test_the_last_five_observations_as_they_are_read(transcripts_folder: Path) -> None:
    """What the reader holds for sent and for happened; the recorded list of a step is the prompt of the next call."""
    path = transcripts_folder / "swe-agent" / "marshmallow-1867-fn-calling-replace-from-source.traj"
    (transcript,) = read(path).transcripts
    runtime = ContextRuntime.load({"strategy": KEEP_FIVE})
    calls = range(len(transcript.calls))
    made = [runtime.assemble(transcript.history(call)) for call in calls]
    assert [dump(one.request) for one in made] == [dump(transcript.captured(call)) for call in calls]
    shortened = [call for call in calls if transcript.calls[call].captured != transcript.calls[call].history]
    assert shortened == [6, 7, 8, 9, 10, 11, 12]
    assert (made[12].tokens_before, made[12].tokens_after) == (7_910, 4_574)


def test_a_chat_that_its_user_cleared(transcripts_folder: Path) -> None:
    """Every prompt after a `/clear` is the newest turns. How many there are is for the user to say, not for a rule."""
    found = read(transcripts_folder / "aider" / "aider-chat-history-4mb.md.gz")
    cleared = [(transcript, call) for transcript in found.transcripts for call in calls_that_differ(transcript)]
    before = after = 0
    for transcript, call in cleared:
        sent = transcript.captured(call)
        turns = sum(message["role"] == "user" for message in sent["messages"])
        size = ContextRuntime.load({"strategy": {"kind": "as_captured"}}).assemble(sent).tokens_after
        kept = {"strategy": {"kind": "keep_last", "keep_turns": turns}, "budget": {"soft_limit": size}}
        made = ContextRuntime.load(kept).assemble(transcript.history(call))
        assert dump(made.request) == dump(sent)
        before, after = before + made.tokens_before, after + made.tokens_after
    assert (len(cleared), len({id(transcript) for transcript, _ in cleared})) == (120, 41)
    assert (before, after) == (468_727, 75_966)


def calls_that_differ(transcript: Transcript) -> list[int]:
    """Return the calls whose prompt was not all that had happened."""
    return [number for number, call in enumerate(transcript.calls) if call.captured != call.history]


def branches(transcript: Transcript) -> list[list[Any]]:
    """Return the conversations that the recording ends with: what was in the window, and all that happened."""
    ends = [node for node in range(len(transcript.messages)) if node not in transcript.parents]
    return [[transcript.messages[node] for node in transcript.path(end)] for end in ends]


def test_the_users_prompts_and_a_note(transcripts_folder: Path) -> None:
    """Kimi keeps what the user typed, without its own reminders, and puts a model's note behind it.

    A rule pins the same prompts, and the same note stands in the system part: only its place is another.
    """
    (transcript,) = read(transcripts_folder / "kimi-cli" / "agent-sessions-tools.jsonl").transcripts
    assert transcript.notes[-1] == "the conversation was compacted after the last call"
    assert (transcript.calls[22].usage.input, transcript.calls[22].usage.output) == (42_371, 937)
    *kept, note = min(branches(transcript), key=len)
    typed = [message["content"] for message in kept]
    assert sum(len(said) if isinstance(said, list) else 1 for said in typed) == 8
    request = transcript.history(22)
    newest = {"role": "user", "content": "go on"}
    rules = [
        {"match": {"role": "user"}, "evict": "pinned"},
        {"match": {"role": "user", "pattern": "^<system-reminder>"}, "evict": "recoverable"},
    ]
    config = {"strategy": {**SUMMARISED, "keep_messages": 1}, "rules": rules}
    runtime = ContextRuntime.load(config, summarizer=lambda range_: note["content"])
    made = runtime.assemble({**request, "messages": [*request["messages"], newest]})
    system, summary, *sent = made.request["messages"]
    assert dump(sent) == dump([*kept, newest])
    assert summary == {"role": "system", "content": f"[Earlier conversation]\n{note['content']}"}
    assert dump(system) == dump(request["messages"][0])
    assert (len(request["messages"]), made.tokens_before, made.tokens_after) == (53, 4_300, 152)


def test_a_summary_for_everything(transcripts_folder: Path) -> None:
    """Claude Code's `/compact` keeps no message: a summary opens the window, and the command stands behind it.

    The three messages of the command are kept as bytes. The summary is refused, for here it has more tokens than what
    it stands for: the client went by 15,808 tokens that it reports, nearly all of them system prompt and tools.
    """
    (transcript,) = read(transcripts_folder / "claude-code" / "agentlogs-compact.jsonl").transcripts
    assert calls_that_differ(transcript) == []  # it happened after the last call
    usage = transcript.calls[0].usage
    assert (usage.input, usage.output, 15_660 + 148) == (15_660, 148, 15_808)
    window, happened = branches(transcript)
    assert (len(window), len(happened), window[1:] == happened[-3:]) == (4, 8, True)
    config = {"strategy": {**SUMMARISED, "keep_messages": 3, "summary_tokens": 2_000}}
    runtime = ContextRuntime.load(config, summarizer=lambda range_: window[0]["content"])
    made = runtime.assemble({"model": transcript.models[0], "max_tokens": 9, "messages": happened})
    assert dump(made.request["messages"]) == dump(window[1:])
    refused = "extractive: what the summariser wrote is not smaller than what it replaces"
    assert refused in {decision.reason for decision in made.decisions}
    full = ContextRuntime.load({"strategy": {"kind": "full_history"}})
    summary = full.assemble({"model": transcript.models[0], "max_tokens": 9, "messages": window[:1]}).tokens_after
    replaced = full.assemble({"model": transcript.models[0], "max_tokens": 9, "messages": happened[:-3]}).tokens_after
    assert (summary, replaced) == (540, 262)
