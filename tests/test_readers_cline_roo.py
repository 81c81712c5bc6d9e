"""Tasks of Cline and Roo Code: API histories, screens, metadata."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Usage
from tests.agent_sessions import cline_history, cline_screen, only, prompts, tool_use, usages

NOTHING = ("system prompt not recorded", "tool definitions not recorded")
GIVEN = "tool results are recorded as texts and were given to their calls by name and order"
AT = 1758742986010


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks], **more}


def said(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {**user(*blocks, **more), "role": "assistant"}


def dated(*messages: dict[str, Any]) -> list[Any]:
    return [[{**message, "ts": AT + number} for number, message in enumerate(messages)]]


def result(id: str, *blocks: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": list(blocks)}


def test_native_calls_whose_results_stand_as_texts() -> None:
    """Results are matched by name, in order: both calls are of one tool, so the first text is the first call's."""
    transcript = only(cline_history())
    calls = [tool_use("t1", "read_file"), tool_use("t2", "read_file")]
    results = [
        result("t1", text("[read_file for 'b'] Result:\nB")),
        result("t2", text("[read_file for 'a'] Result:\nA")),
    ]
    task = user("<task>\nlook\n</task>")
    assert prompts(transcript) == [[task], [task, said(*calls), user(*results, "<environment_details>e")]]
    assert transcript.calls[1].response == {"role": "assistant", "content": "done"}
    assert usages(transcript) == [Usage(103, output=5), Usage()]
    assert [(call.model, call.at) for call in transcript.calls] == [
        ("claude-x", None),
        (None, datetime.fromtimestamp(1758742999, UTC)),
    ]
    assert (transcript.dialect, transcript.format, transcript.title) == ("anthropic", "cline_roo", "look")
    assert transcript.notes == (GIVEN, *NOTHING)


def test_results_of_other_tools_stay_texts() -> None:
    talk = dated(user("<task>a</task>"), said(tool_use("t1", "f")), user("[g] Result: x", "[f] Result:\ny"))
    assert only(talk).messages[2] == user(result("t1", text("[f] Result:\ny")), "[g] Result: x")


def test_results_under_another_name_are_given_by_order_where_all_are_there() -> None:
    """A call to a tool of an MCP server is named otherwise in its result."""
    talk = dated(user("<task>a</task>"), said(tool_use("t1", "server0tool")), user("[use_mcp_tool for 's'] Result:\ny"))
    assert only(talk).messages[2] == user(result("t1", text("[use_mcp_tool for 's'] Result:\ny")))


def test_true_results_are_kept_as_they_are() -> None:
    given = user(result("t1", text("r")), "[f] Result: no")
    transcript = only(dated(user("<task>a</task>"), said(tool_use("t1", "f")), given))
    assert (transcript.messages[2], transcript.notes) == (given, NOTHING)


def test_classic_calls_are_texts() -> None:
    talk = [
        user("<task>a</task>"),
        said("<read_file><path>x</path></read_file>"),
        user("[read_file for 'x'] Result:", "body"),
    ]
    assert list(only(dated(*talk)).messages) == talk


def test_a_condensed_history_of_roo() -> None:
    """Older versions write the summary in the assistant's role, behind the first message."""
    summary = said("summary", isSummary=True)
    transcript = only(dated(user("<task>a</task>"), summary, user("b"), said("c")))
    assert prompts(transcript) == [[user("<task>a</task>"), said("summary"), user("b")]]
    assert prompts(transcript, history=True) == [[user("<task>a</task>"), user("b")]]
    assert "the conversation was compacted before call 1" in transcript.notes


def test_a_condensed_history_that_keeps_what_it_hides() -> None:
    hidden = {"condenseParent": "x"}
    summary = user("summary", isSummary=True, condenseId="x")
    talk = dated(user("<task>a</task>", **hidden), said("b", **hidden), summary, user("c"), said("d"))
    transcript = only(talk)
    assert prompts(transcript) == [[user("<task>a</task>")], [user("summary"), user("c")]]
    assert prompts(transcript, history=True)[1] == [user("<task>a</task>"), said("b"), user("c")]


def test_a_window_that_slid() -> None:
    hidden = {"truncationParent": "x"}
    marker = user("[messages hidden]", isTruncationMarker=True, truncationId="x")
    talk = dated(
        user("<task>a</task>"), said("b", **hidden), user("c", **hidden), said("d"), marker, user("e"), said("f")
    )
    transcript = only(talk)
    assert prompts(transcript)[2] == [user("<task>a</task>"), said("d"), user("[messages hidden]"), user("e")]
    assert len(prompts(transcript, history=True)[2]) == 6
    assert "old messages were left out of the prompt before call 3" in transcript.notes


@pytest.mark.parametrize(
    ("message", "format"),
    [
        ({"role": "user", "content": [text("<task>a</task>")]}, "cline_roo"),
        ({"role": "user", "content": "hi", "ts": 1758742986010}, "cline_roo"),
        ({"role": "user", "content": [text("hi")]}, "openai_chat"),
        ({"role": "system", "content": "hi", "ts": 1758742986010}, "openai_chat"),
    ],
)
def test_what_is_a_history(message: dict[str, Any], format: str) -> None:
    assert read(json.dumps([message])).format == format


def test_messages_of_another_kind() -> None:
    found = read(json.dumps([{**user("<task>a</task>"), "ts": AT}, 3, {"role": "user", "ts": AT}]))
    assert [(problem.place, problem.problem) for problem in found.problems] == [
        ("message 2", "this is no message"),
        ("message 3", "this is no message"),
    ]


def test_a_screen() -> None:
    transcript = only(cline_screen())
    first = user("<task>look</task>")
    blocks = ("reading", '{"tool":"readFile"}')
    assert prompts(transcript) == [[first], [first, said(*blocks), user("[read_file] Result: A")]]
    thinking = {"type": "thinking", "thinking": "hm"}
    assert [call.response for call in transcript.calls] == [said(thinking, *blocks), said("done")]
    assert usages(transcript) == [Usage(10, 4, 0, 2), Usage(12, 4, 5, 2)]
    assert (transcript.format, transcript.title) == ("cline_ui", "look")
    assert transcript.meta == {"ignored": {"text": 1, "command_output": 1}}


def test_a_screen_with_a_condensed_history() -> None:
    (shown,) = cline_screen()
    condensed = {"ts": 4, "type": "say", "say": "condense_context", "contextCondense": {"summary": "sum"}}
    transcript = only([[*shown[:6], condensed, *shown[6:]]])
    assert prompts(transcript)[1] == [user("sum"), user("[read_file] Result: A")]


def test_what_cline_left_out_of_its_prompts() -> None:
    """The range counts messages of the API history: here the first reply and the second request."""
    (shown,) = cline_screen()
    cut = {**shown[-2], "conversationHistoryDeletedRange": [1, 2]}
    transcript = only([[*shown, cut, shown[-1]]])
    history = prompts(transcript, history=True)[2]
    assert prompts(transcript)[2] == [history[0], *history[3:]]
    assert "old messages were left out of the prompt before call 3" in transcript.notes


def test_reasoning_that_stands_beside_the_messages() -> None:
    thought = {"type": "reasoning", "encrypted_content": "x", "ts": AT}
    transcript = only([[*dated(user("<task>a</task>"))[0], thought, *dated(said("b"))[0]]])
    assert (len(transcript.messages), transcript.meta) == (2, {"ignored": {"reasoning": 1}})


def test_a_request_that_was_cut_off() -> None:
    shown = [{"ts": 2, "type": "say", "say": "api_req_started", "text": text} for text in ("{", '{"request": "a"}')]
    found = read(json.dumps(shown))
    assert [call.usage for call in found.transcripts[0].calls] == [Usage(), Usage()]
    assert "the request's text is missing" in str(found.problems[0])


def test_a_screen_without_requests_and_metadata_are_refused_with_advice() -> None:
    screen = read(json.dumps([{"ts": 1, "type": "ask", "ask": "followup", "text": "?"}]))
    assert str(screen.problems[0]).endswith("Give the API history of the same task folder.")
    found = read(json.dumps({"files_in_context": [], "model_usage": []}))
    assert [str(problem) for problem in found.problems] == [
        "the text: this is the metadata of a task, without messages."
        " Give `api_conversation_history.json` or `ui_messages.json` of the same task folder."
    ]


def test_a_real_task_with_native_calls(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "cline-roo" / "agentlogs-cline-crud.json")
    (transcript,) = found.transcripts
    blocks = [block["type"] for message in transcript.messages for block in message["content"]]
    assert (len(transcript.calls), len(transcript.messages)) == (21, 42)
    assert (blocks.count("tool_use"), blocks.count("tool_result")) == (38, 37)
    figures = usages(transcript)
    assert (sum(u.input or 0 for u in figures), sum(u.output or 0 for u in figures)) == (1421888, 6469)


@pytest.mark.parametrize(
    ("name", "calls", "characters"),
    [("roo-heavy-uncondensed", 27, 306165), ("roo-synth2-heavy-read", 16, 420175)],
)
def test_real_tasks_of_roo(name: str, calls: int, characters: int, transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "cline-roo" / f"{name}.api_conversation_history.json")
    (transcript,) = found.transcripts
    said = [block["text"] for message in transcript.messages for block in message["content"]]
    assert (len(transcript.calls), len(transcript.messages), sum(map(len, said))) == (calls, 2 * calls, characters)
    assert found.problems == []


def test_a_real_screen(transcripts_folder: Path) -> None:
    found = read(transcripts_folder / "cline-roo" / "roo-heavy-uncondensed.ui_messages.json")
    (transcript,) = found.transcripts
    figures = [(usage.input or 0, usage.output or 0, usage.cache_read or 0) for usage in usages(transcript)]
    assert [sum(column) for column in zip(*figures, strict=True)] == [2547642, 16636, 2406731]
    assert (len(transcript.calls), found.problems) == (27, [])
