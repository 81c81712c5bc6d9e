"""What real policies removed that no strategy of ours removes in the same way: which call, what, and how much."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from core.readers import read
from core.replay import replay
from core.runtime import ContextRuntime
from core.tokens import encoding
from core.transcript import Transcript, Usage

FULL = {"strategy": {"kind": "full_history"}}
SENT = {"strategy": {"kind": "as_captured"}}


def windows(transcript: Transcript, call: int) -> tuple[int, int]:
    """Return the tokens of all that happened up to a call, and of what was sent."""
    happened, sent = (replay(transcript, config).calls["in_window"][call] for config in (FULL, SENT))
    return happened, sent


def rewritten(transcript: Transcript) -> list[int]:
    """Return the calls whose prompt was not all that had happened."""
    return [number for number, call in enumerate(transcript.calls) if call.captured != call.history]


def test_an_old_question_loses_what_was_put_before_it(transcripts_folder: Path) -> None:
    """Cody opens the newest question with a sentence about its context, and sends older ones as they were typed.

    The prompt changes before its newest turn with each question. Our strategies never edit what a user said.
    """
    found = read(transcripts_folder / "har" / "cody-chat-response-quality.har.yaml.gz")
    calls = [(number, call) for number, made in enumerate(found.transcripts) for call in rewritten(made)]
    assert calls == [(1, 10), (1, 21), (1, 32), (4, 18)]
    sizes = []
    for number, call in calls:
        transcript = found.transcripts[number]
        happened, sent = (body["messages"] for body in (transcript.history(call), transcript.captured(call)))
        ((old, new),) = [(a["content"], b["content"]) for a, b in zip(happened, sent, strict=True) if a != b]
        assert old.endswith(f"Question: {new}")
        sizes.append((len(sent), len(old), len(new), *windows(transcript, call)))
    # messages, characters of the question before and after, tokens of all that happened and of what was sent
    assert sizes == [
        (12, 83, 23, 1_525, 1_510),
        (12, 83, 23, 1_629, 1_614),
        (12, 83, 23, 1_484, 1_469),
        (13, 83, 23, 1_132, 1_120),
    ]


def test_a_prompt_for_one_attempt_is_taken_out_again(transcripts_folder: Path) -> None:
    """ToolBench's search puts a message before an attempt that differs from earlier ones, and drops it two calls on.

    One message from the middle goes for what it is, at any size; a rule of ours lets it go only for want of room.
    """
    transcript = read(transcripts_folder / "toolbench" / "G3-13-dfs.json").transcripts[0]
    assert rewritten(transcript) == [3, 4]
    happened, sent = transcript.history(3)["messages"], transcript.captured(3)["messages"]
    (gone,) = [place for place, message in enumerate(happened) if message not in sent]
    assert [*happened[:gone], *happened[gone + 1 :]] == sent
    assert (len(happened), gone, happened[gone]["role"], len(happened[gone]["content"])) == (10, 4, "user", 1_885)
    assert (windows(transcript, 3), windows(transcript, 4)) == ((2_855, 2_357), (3_164, 2_666))


def test_a_search_cuts_what_its_tools_return(transcripts_folder: Path) -> None:
    """Cut when the tool returned, to 1,024 characters and three dots: what was cut off is recorded nowhere."""
    recorded = json.loads((transcripts_folder / "toolbench" / "G3-13-dfs.json").read_text(encoding="utf-8"))
    lengths = Counter(len(text) for text in observations(recorded["tree"]))
    assert (max(lengths), lengths[1024 + 3], sum(lengths.values())) == (1027, 35, 66)


def observations(node: Any) -> list[str]:
    """Return all observations of a search tree."""
    if isinstance(node, list):
        return [text for one in node for text in observations(one)]
    if not isinstance(node, dict):
        return []
    own = [node["observation"]] if node.get("observation") else []
    return [*own, *(text for one in node.values() for text in observations(one))]


def test_windows_that_a_compaction_left(transcripts_folder: Path) -> None:
    """Codex keeps what users and developers said and puts one sealed item for the rest.

    The file holds one record of each kind, from many sessions and with its texts replaced, so that there is no
    history to do it again from. What the item stands for is sealed: no summariser of ours could write it. Of six
    compactions two were followed by another before a call.
    """
    (transcript,) = read(transcripts_folder / "codex" / "agent-sessions-2026-08.jsonl").transcripts
    assert rewritten(transcript) == [4, 5, 6, 7]
    kinds = [Counter(item.get("role") or item["type"] for item in transcript.captured(i)["input"]) for i in range(4, 8)]
    assert kinds == [
        {"user": 1, "agent_message": 1, "custom_tool_call_output": 1},
        {"user": 6, "developer": 1, "compaction": 1},
        {"user": 50, "developer": 4, "agent_message": 11, "compaction": 1},
        {"user": 9, "developer": 3, "compaction": 1},
    ]
    happened = [windows(transcript, call) for call in range(4, 8)]
    assert happened == [(2_554, 1_654), (2_566, 148), (3_388, 2_357), (3_434, 208)]


def test_a_provider_that_compacts_during_a_call(transcripts_folder: Path) -> None:
    """Both see a prompt that is not recorded; one answers with a readable summary, the other with a sealed item."""
    (claude,) = read(transcripts_folder / "anthropic-messages" / "vercel-compaction.chunks.txt").transcripts
    (openai,) = read(transcripts_folder / "openai-responses" / "vercel-compaction.response.json").transcripts
    for transcript in (claude, openai):
        assert transcript.notes[-1] == "the provider compacted the conversation during call 1"
    # 60,385 tokens became a summary of 522, and the answer was written with 612 tokens in the window.
    assert claude.calls[0].usage == Usage(60_385 + 612, 0, 0, 522 + 2_819)
    assert openai.calls[0].usage == Usage(51_097, 0, None, 2_056, 0)
    assert openai.calls[0].response is not None
    item = openai.calls[0].response["output"][1]
    assert (item["type"], len(item["encrypted_content"])) == ("compaction", 41_380)


def test_a_compression_of_which_the_answers_are_recorded(transcripts_folder: Path) -> None:
    """Gemini CLI writes its summary in a call of its own, and here asks for it twice; no prompt is recorded."""
    (transcript,) = read(transcripts_folder / "gemini-cli" / "context-compress.responses").transcripts
    assert [(call.usage.input, call.usage.output) for call in transcript.calls] == [
        (12_282, None),
        (12_282, 268),
        (1_223, 424),
        (1_223, 424),
    ]
    last = [call.response for call in transcript.calls[2:]]
    assert last[0] == last[1] and last[0] is not None
    assert last[0]["parts"][1]["text"].startswith("<state_snapshot>")


def test_thoughts_of_an_earlier_turn_are_not_in_the_window(transcripts_folder: Path) -> None:
    """Thoughts stay in the window while the model works, and go when there is a new message of the user's.

    Call 5 was sent the answer and 5 tokens more than call 4, and was billed 792 fewer: 1,148 tokens went. The three
    thoughts before tool calls had 1,180. They are in no chat log, so that our counts show no fall.
    """
    (transcript,) = read(transcripts_folder / "gemini-cli" / "vct-chats-2026-04.jsonl").transcripts
    usages = [call.usage for call in transcript.calls]
    assert [usage.input for usage in usages[3:5]] == [40_914, 40_122]
    assert (usages[3].output, usages[3].reasoning) == (512, 161)
    assert [usage.reasoning for usage in usages[:3]] == [306, 642, 232]
    prompt = transcript.captured(4)["contents"][-1]["parts"][0]["text"]
    said = len(encoding("o200k_base").encode_ordinary(prompt))
    assert (said, 40_914 + 512 - 161 + said - 40_122, 306 + 642 + 232) == (5, 1_148, 1_180)
    sent = replay(transcript, SENT).calls
    assert (sent["in_window"][3], sent["in_window"][4], sent["kind.thinking"][4]) == (24_902, 25_372, 0)


def test_thinking_of_an_earlier_turn_is_not_in_the_window(transcripts_folder: Path) -> None:
    """Claude Code logs all thinking, and the provider counts none of an earlier turn: 403 tokens fewer for 293 more.

    Call 6 is the first of a new turn; five blocks of thinking stand before it, 438 tokens and their signatures.
    """
    (transcript,) = read(transcripts_folder / "claude-code" / "vct-v1.0.95.jsonl").transcripts
    assert [transcript.calls[call].usage.input for call in (4, 5)] == [20_642, 20_239]
    sent = replay(transcript, SENT).calls
    assert (sent["in_window"][4], sent["in_window"][5], sent["kind.thinking"][5]) == (2_975, 3_268, 438)
    assert rewritten(transcript) == []


def test_a_total_says_that_nothing_was_removed(transcripts_folder: Path) -> None:
    """The log of an older SWE-agent does not say what was sent. Its total is that of the full history, to the token."""
    (transcript,) = read(transcripts_folder / "swe-agent" / "pydicom-1458-gpt4.traj").transcripts
    assert total(transcript, FULL) == transcript.meta["tokens_sent"] == 122_612
    assert total(transcript, MASKED, pinned=2) == 116_059


def test_a_total_says_that_old_observations_were_removed(transcripts_folder: Path) -> None:
    """216,294 tokens of Claude's are fewer than the 224,153 that GPT-4 has for the full history.

    Claude has 1.13 to 1.24 tokens for one of GPT-4's in prose and code, so this was shortened. The last five
    observations and line counts for older ones, with the demonstration left whole, come to a ratio of 1.16.
    """
    (transcript,) = read(transcripts_folder / "swe-agent" / "requests-1142-claude35.traj.gz").transcripts
    assert (total(transcript, FULL), transcript.meta["tokens_sent"]) == (224_153, 216_294)
    masked = total(transcript, MASKED, pinned=23)
    assert (masked, round(216_294 / masked, 2)) == (186_050, 1.16)


MASKED = {
    "rules": [{"match": {"role": "user", "pattern": r"\nbash-\$$"}, "tier": "knowledge"}],
    "strategy": {
        "kind": "mask_tool_results",
        "keep": 5,
        "trigger": 0,
        "placeholder": "Old output omitted ({lines} lines)",
    },
}
"""Observations are user messages that end with a shell's prompt; the rule makes them results that can be masked."""


def total(transcript: Transcript, config: dict[str, Any], pinned: int = 0) -> int:
    """Return the tokens sent in all calls, as GPT-4 counts them, with the first messages pinned."""
    runtime = ContextRuntime.load({**config, "model": {"name": "gpt-4"}})
    hints = {"pins": [f"m{message}.0" for message in range(pinned)]}
    bodies = (transcript.history(call) for call in range(len(transcript.calls)))
    return sum(runtime.assemble(body, hints).tokens_after for body in bodies)
