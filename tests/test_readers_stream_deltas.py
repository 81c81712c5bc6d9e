"""What the deltas of a stream say has its place in the response, also where the stream broke off; the rest is told."""

from typing import Any

import pytest

from core.dialects import dialect
from core.readers import read
from core.readers.responses import response_facts
from core.readers.streams import body_value, join_stream
from tests.chats import lines

CREATED = {"type": "response.created", "response": {"object": "response", "model": "gpt-5", "output": []}}


def added(item: dict[str, Any], at: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": at, "item": item}


def delta(stem: str, said: Any, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{stem}.delta", "output_index": 0, "delta": said, **more}


def done(stem: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{stem}.done", "output_index": 0, **more}


def output(*events: dict[str, Any]) -> Any:
    joined = join_stream([CREATED, *events])
    assert joined is not None
    return joined["output"]


MESSAGE = {"type": "message", "role": "assistant", "content": []}
REASONING = {"type": "reasoning", "id": "rs", "summary": []}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
CUSTOM = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": ""}
MCP = {"type": "mcp_call", "id": "m", "name": "ask", "arguments": ""}
CODE = {"type": "code_interpreter_call", "id": "i", "code": ""}
SHELL = {"type": "shell_call", "call_id": "s", "action": {"commands": [], "timeout_ms": 5}}
SHELL_OUTPUT = {"type": "shell_call_output", "call_id": "s", "output": []}

PLACES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "output_text",
        MESSAGE,
        {"content_index": 0},
        {"text": "ab"},
        {"content": [{"type": "output_text", "text": "ab"}]},
    ),
    ("refusal", MESSAGE, {"content_index": 0}, {"refusal": "ab"}, {"content": [{"type": "refusal", "refusal": "ab"}]}),
    (
        "reasoning_text",
        REASONING,
        {"content_index": 0},
        {"text": "ab"},
        {"content": [{"type": "reasoning_text", "text": "ab"}]},
    ),
    (
        "reasoning_summary_text",
        REASONING,
        {"summary_index": 0},
        {"text": "ab"},
        {"summary": [{"type": "summary_text", "text": "ab"}]},
    ),
    ("function_call_arguments", CALL, {}, {"arguments": "ab"}, {"arguments": "ab"}),
    ("mcp_call_arguments", MCP, {}, {"arguments": "ab"}, {"arguments": "ab"}),
    ("mcp_call.arguments", MCP, {}, {"arguments": "ab"}, {"arguments": "ab"}),
    ("custom_tool_call_input", CUSTOM, {}, {"input": "ab"}, {"input": "ab"}),
    ("code_interpreter_call_code", CODE, {}, {"code": "ab"}, {"code": "ab"}),
    ("code_interpreter_call.code", CODE, {}, {"code": "ab"}, {"code": "ab"}),
    (
        "shell_call_command",
        SHELL,
        {"command_index": 0},
        {"command": "ab"},
        {"action": {"commands": ["ab"], "timeout_ms": 5}},
    ),
]


@pytest.mark.parametrize(("stem", "item", "where", "whole", "expected"), PLACES, ids=[place[0] for place in PLACES])
def test_each_delta_of_a_broken_off_responses_stream_has_its_field(
    stem: str, item: dict[str, Any], where: dict[str, Any], whole: dict[str, Any], expected: dict[str, Any]
) -> None:
    pieces = [delta(stem, "a", **where), delta(stem, "b", **where)]
    assert output(added(item), *pieces) == [{**item, **expected}]
    assert output(added(item), done(stem, **where, **whole)) == [{**item, **expected}]
    assert output(added(item), *pieces, done(stem, **where, **whole)) == [{**item, **expected}]
    read_as = dialect("openai_responses").message({**item, **expected}).parts[0]
    assert "ab" in read_as.text
    facts = response_facts(join_stream([CREATED, added(item), *pieces]))
    assert (facts.message, facts.remarks) == ({**item, **expected}, ())


@pytest.mark.parametrize(("stem", "item", "where", "whole", "expected"), PLACES, ids=[place[0] for place in PLACES])
def test_deltas_of_an_item_whose_beginning_is_not_recorded(
    stem: str, item: dict[str, Any], where: dict[str, Any], whole: dict[str, Any], expected: dict[str, Any]
) -> None:
    [made] = output(delta(stem, "a", item_id="x", **where), delta(stem, "b", item_id="x", **where))
    assert (made["type"], made["id"]) == (item["type"], "x")
    [field] = expected
    bare = {"commands": ["ab"]} if field == "action" else expected[field]
    assert made[field] == bare


def test_what_a_shell_wrote_is_joined_command_by_command() -> None:
    def wrote(at: int, **said: str) -> dict[str, Any]:
        return delta("shell_call_output_content", said, command_index=at)

    [made] = output(added(SHELL_OUTPUT), wrote(0, stdout="a"), wrote(1, stderr="no"), wrote(0, stdout="b"))
    assert made["output"] == [{"stdout": "ab"}, {"stderr": "no"}]


def test_parts_and_annotations_are_in_the_order_of_their_numbers() -> None:
    note = {"type": "url_citation", "url": "u"}
    part = {"type": "output_text", "text": "", "annotations": []}
    events = [
        added(MESSAGE),
        delta("refusal", "no", content_index=1),
        {"type": "response.content_part.added", "output_index": 0, "content_index": 0, "part": part},
        delta("output_text", "a", content_index=0),
        {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": note},
        delta("output_text", "b", content_index=0),
    ]
    text = {"type": "output_text", "text": "ab", "annotations": [note]}
    assert output(*events) == [{**MESSAGE, "content": [text, {"type": "refusal", "refusal": "no"}]}]
    whole = {**part, "text": "abc"}
    ended = {"type": "response.content_part.done", "output_index": 0, "content_index": 0, "part": whole}
    assert output(*events, ended)[0]["content"][0] == whole


def test_the_end_of_an_item_replaces_what_its_deltas_said() -> None:
    item = {**CUSTOM, "input": "all of it"}
    ended = {"type": "response.output_item.done", "output_index": 0, "item": item}
    assert output(added(CUSTOM), delta("custom_tool_call_input", "all"), ended) == [item]


NEW = delta("sign_language", "a")
KNOWN_NOT = "the stream has deltas of a kind that is not known here ({})"
LACKS = "The response may lack what they say."


def test_a_delta_of_an_unknown_kind_is_told_once() -> None:
    facts = response_facts(join_stream([CREATED, added(MESSAGE), NEW, NEW, delta("output_text", "a")]))
    assert facts.message == {**MESSAGE, "content": [{"type": "output_text", "text": "a"}]}
    assert facts.remarks == ((KNOWN_NOT.format("response.sign_language.delta"), LACKS),)


@pytest.mark.parametrize("event", [NEW, {"type": "response.image_generation_call.partial_image", "output_index": 0}])
@pytest.mark.parametrize(
    "end",
    [
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        {"type": "response.completed", "response": {"output": [MESSAGE]}},
    ],
)
def test_an_unknown_delta_is_no_loss_where_the_whole_came_after_it(event: dict[str, Any], end: dict[str, Any]) -> None:
    assert response_facts(join_stream([CREATED, event])).remarks != ()
    facts = response_facts(join_stream([CREATED, event, end]))
    assert (facts.message, facts.remarks) == (MESSAGE, ())


def test_events_that_only_tell_how_far_a_call_is_are_no_loss() -> None:
    kinds = ("web_search_call.searching", "mcp_list_tools.in_progress", "code_interpreter_call.interpreting", "queued")
    events = [{"type": f"response.{kind}", "output_index": 0} for kind in kinds]
    facts = response_facts(join_stream([CREATED, added(MESSAGE), *events]))
    assert (facts.message, facts.remarks) == (MESSAGE, ())


def block(**said: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": said}


START = [
    {"type": "message_start", "message": {"role": "assistant", "model": "claude-x", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}},
]


def test_a_compaction_in_an_anthropic_stream() -> None:
    pieces = [block(type="compaction_delta", content="so "), block(type="compaction_delta", content="far")]
    facts = response_facts(join_stream([*START, *pieces]))
    assert facts.message == {"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}
    assert facts.remarks == ()


def test_an_unknown_delta_of_anthropic_is_kept_and_told() -> None:
    facts = response_facts(join_stream([*START, block(type="smell_delta", smell="x"), {"type": "aura", "delta": {}}]))
    assert facts.message == {"role": "assistant", "content": [{"type": "compaction", "content": None, "smell": "x"}]}
    assert facts.remarks == ((KNOWN_NOT.format("smell_delta, aura"), LACKS),)


@pytest.mark.parametrize("kind", [None, 7, ["text_delta"], {"a": 1}])
def test_a_delta_whose_kind_is_no_text_is_told(kind: Any) -> None:
    facts = response_facts(join_stream([*START, block(type=kind)]))
    assert facts.remarks == ((KNOWN_NOT.format(kind), LACKS),)


# Gemini's function calls in pieces


def chunk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def piece(*args: dict[str, Any], more: bool = True, **call: Any) -> dict[str, Any]:
    pieces = {"partialArgs": list(args)} if args else {}
    return {"functionCall": {**call, **pieces, **({"willContinue": True} if more else {})}}


def parts_of(*chunks: dict[str, Any]) -> Any:
    facts = response_facts(join_stream(chunks))
    assert facts.message is not None
    return facts.message["parts"]


WEATHER = [
    piece(name="get_weather", id="1"),
    piece({"jsonPath": "$.location", "stringValue": "New ", "willContinue": True}),
    piece({"jsonPath": "$.location", "stringValue": "Delhi"}, {"jsonPath": "$.days[0].n", "numberValue": 2}),
    piece({"jsonPath": "$.days[1]['the unit']", "nullValue": "NULL_VALUE"}, {"jsonPath": "$.now", "boolValue": False}),
    piece(more=False),
]
ARGS = {"location": "New Delhi", "days": [{"n": 2}, {"the unit": None}], "now": False}


def test_a_call_in_pieces_is_one_call() -> None:
    other = {"functionCall": {"name": "g", "args": {"a": 1}}}
    chunks = [chunk({"text": "so"}), *map(chunk, WEATHER), chunk(other, finishReason="STOP")]
    one = {"functionCall": {"name": "get_weather", "id": "1", "args": ARGS}}
    assert parts_of(*chunks) == [{"text": "so"}, one, other]
    assert WEATHER[2]["functionCall"]["partialArgs"][0]["stringValue"] == "Delhi"


def test_a_call_in_pieces_that_broke_off_has_what_had_arrived() -> None:
    whole = [parts_of(*map(chunk, WEATHER[:length])) for length in (1, 2, 3)]
    begun = {"name": "get_weather", "id": "1"}
    assert whole == [
        [{"functionCall": {**begun, "args": {}}}],
        [{"functionCall": {**begun, "args": {"location": "New "}}}],
        [{"functionCall": {**begun, "args": {"location": "New Delhi", "days": [{"n": 2}]}}}],
    ]


def test_calls_in_pieces_one_after_another_stay_apart() -> None:
    second = piece({"jsonPath": "$.a", "stringValue": "x"}, name="g", id="2", more=False)
    signed = {**piece(name="f", id="1", args={"b": {"c": 1}}), "thoughtSignature": "s"}
    found = parts_of(chunk(signed), chunk(piece({"jsonPath": "$.b.d", "numberValue": 2})), chunk(second))
    assert found == [
        {"functionCall": {"name": "f", "id": "1", "args": {"b": {"c": 1, "d": 2}}}, "thoughtSignature": "s"},
        {"functionCall": {"name": "g", "id": "2", "args": {"a": "x"}}},
    ]
    assert signed["functionCall"]["args"] == {"b": {"c": 1}}


@pytest.mark.parametrize(
    "bad",
    [
        {"jsonPath": "$..a", "stringValue": "x"},
        {"jsonPath": "a", "stringValue": "x"},
        {"stringValue": "x"},
        {"jsonPath": "$.a", "bytesValue": "x"},
        *[{"jsonPath": f"$.a[{at}]", "stringValue": "x"} for at in (1, 9999, 10000)],
        {"jsonPath": "$.a[1]", "nullValue": "NULL_VALUE"},
        {"jsonPath": "$.a.b[0][1].c", "numberValue": 1},
        {"jsonPath": "$.list[2]", "numberValue": 1},
        {"jsonPath": f"$.a[{'9' * 5000}]", "stringValue": "x"},
        {"jsonPath": "$.here.a", "stringValue": "x"},
        {"jsonPath": "$.here[0]", "numberValue": 1},
        "x",
    ],
)
def test_a_piece_that_has_no_place_is_told(bad: Any) -> None:
    here = [{"jsonPath": "$.here", "numberValue": 1}, {"jsonPath": "$.list[0]", "numberValue": 2}]
    facts = response_facts(join_stream([chunk(piece(*here, bad, name="f", more=False))]))
    assert facts.message is not None
    assert facts.message["parts"][0]["functionCall"]["args"] == {"here": 1, "list": [2]}
    assert facts.remarks == ((KNOWN_NOT.format("partialArgs"), LACKS),)


def test_the_pieces_of_a_list_stand_at_their_index_or_after_its_last() -> None:
    told = [("$.a[0]", "x"), ("$.a[1].b[0]", "y"), ("$.a[0]", "z"), ("$.a[2]", "w"), ("$.a[1].b[1]", "v")]
    pieces = [{"jsonPath": path, "stringValue": text} for path, text in told]
    [call] = parts_of(chunk(piece(*pieces, name="f", more=False)))
    assert call["functionCall"]["args"] == {"a": ["xz", {"b": ["y", "v"]}, "w"]}


# Errors within a stream, and where remarks are told

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
HELLO = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "he"}}]}
FAILED = {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error"}}}


@pytest.mark.parametrize(
    ("events", "name"),
    [
        ([*START, OVERLOADED], "overloaded_error"),
        ([HELLO, {"error": {"message": "no", "code": "rate_limit"}}], "rate_limit"),
        ([CREATED, added(MESSAGE), {"type": "error", "code": "ERR", "message": "no"}], "ERR"),
        ([CREATED, added(MESSAGE), FAILED], "server_error"),
        ([chunk({"text": "a"}), {"error": {"code": 503, "status": "UNAVAILABLE"}}], "UNAVAILABLE"),
    ],
)
def test_an_error_within_a_stream_is_told_and_what_had_arrived_is_kept(events: list[Any], name: str) -> None:
    facts = response_facts(body_value(events))
    assert facts.message is not None
    assert facts.remarks == ((f"the stream reported an error ({name})", "What had arrived before was read."),)


EVENTS = [CREATED, added(MESSAGE), NEW]
BODY = {"model": "gpt-5", "input": "hi"}
RECORDS: dict[str, Any] = {
    "events one a line": lines(EVENTS),
    "a pair": lines([{"request": BODY, "response": EVENTS}]),
    "a proxy's log": lines([{"url": "https://x/v1/responses", "request_body": BODY, "response_body": EVENTS}]),
    "LiteLLM": lines([{"call_type": "aresponses", "startTime": 1.5, "messages": "hi", "response": EVENTS, "id": "r"}]),
}


@pytest.mark.parametrize("record", RECORDS)
def test_what_a_response_lacks_of_its_stream_is_a_remark_of_the_file(record: str) -> None:
    found = read(RECORDS[record])
    assert [call.response for call in found.transcripts[0].calls] == [MESSAGE]
    told = KNOWN_NOT.format("response.sign_language.delta")
    assert [(problem.problem, problem.warning) for problem in found.problems] == [(told, True)]
