"""Recordings: the provider's numbers stay what they were, calls keep their order, and no one's words reach another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.dialects import dialect as dialect_named
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.spans import SpanKind
from core.transcript import Transcript, Usage
from tests.claude_sessions import Session, text, use
from tests.talks import CUTTING, DIALECTS, LISTS, Wire, body, long, said, step, user

EACH = pytest.mark.parametrize("kind", CUTTING)
EVERY = pytest.mark.parametrize("dialect", DIALECTS)
FULL = {"counter": {"kind": "cjk_estimate"}, "strategy": {"kind": "full_history"}}


def usage(output: int) -> Wire:
    return {"input_tokens": 100, "output_tokens": output}


@pytest.mark.parametrize("outputs", [(1, 250), (1, 1, 250), (1, 250, 250), (250,)], ids=str)
@pytest.mark.parametrize("named", [True, False], ids=["with a request id", "without one"])
def test_of_a_streamed_reply_the_last_figures_count_once(named: bool, outputs: tuple[int, ...]) -> None:
    session = Session()
    session.user("hi")
    for at, output in enumerate(outputs):
        more = {"requestId": "req"} if named else {}
        session.reply("m1", text(f"part {at}"), usage=usage(output), **more)
    session.user("more")
    session.reply("m2", text("b"), usage=usage(7), **({"requestId": "req2"} if named else {}))
    calls = session.only().calls
    assert [(call.usage.input, call.usage.output) for call in calls] == [(100, 250), (100, 7)]


PAIRS: list[tuple[str, Wire, Wire]] = [
    (
        "openai_chat",
        {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
        {
            "object": "chat.completion",
            "choices": [{"message": {"role": "assistant", "content": "a"}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}},
        },
    ),
    (
        "openai_responses",
        {"model": "m", "input": [{"role": "user", "content": "hi"}]},
        {
            "object": "response",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}],
            "usage": {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 8}},
        },
    ),
    (
        "anthropic",
        {"model": "m", "max_tokens": 9, "system": "s", "messages": [{"role": "user", "content": "hi"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}],
            "usage": {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": 2},
        },
    ),
    (
        "gemini",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "cachedContentTokenCount": 8},
        },
    ),
]


@pytest.mark.parametrize(("dialect", "request_body", "response"), PAIRS, ids=[row[0] for row in PAIRS])
def test_what_the_first_call_read_from_a_cache_is_the_providers_own_number(
    dialect: str, request_body: Wire, response: Wire
) -> None:
    """It may be more than anything that the recording shows to have been sent before."""
    found = read(json.dumps({"request": request_body, "response": response}))
    (transcript,) = found.transcripts
    reported = transcript.calls[0].usage
    assert transcript.dialect == dialect
    assert (reported.input, reported.cache_read, reported.output) == (10, 8, 2)
    made = replay(transcript, {"strategy": {"kind": "keep_last"}})
    assert made.transcript.calls[0].usage == reported


def growing(dialect: str, *events: Any) -> Transcript:
    """A transcript with a call before each reply, as a log of requests has it."""
    builder = TranscriptBuilder(dialect)
    for at, event in enumerate(events):
        if at and getattr(event, "role", "assistant") == "assistant":
            builder.call(builder.body(body(dialect, *events[:at])))
    return builder.build()


@EVERY
def test_what_enters_is_told_from_what_is_in_the_window(dialect: str) -> None:
    """Equal turns within one call are all new in it; a later call's window holds them and they do not enter again."""
    turn = (user("same words"), said("same words"))
    transcript = growing(dialect, user("q"), *turn, *turn, user("q2"), said("end"))
    calls = replay(transcript, FULL).calls
    window, entered = calls["in_window"], calls["entered"]
    assert entered[0] == window[0]
    assert list(window) == sorted(window)
    assert sum(entered) == window[-1]
    assert all(new == after - before for new, before, after in zip(entered[1:], window, window[1:], strict=False))


def test_equal_calls_are_added_each_for_itself() -> None:
    builder = TranscriptBuilder("openai_chat")
    for _ in range(3):
        builder.call(builder.body(body("openai_chat", user("u" * 592))))
    calls = replay(builder.build(), FULL).calls
    assert list(calls["in_window"]) == [152, 152, 152]
    assert sum(calls["in_window"]) == 456


REWRITTEN = ["[Summary of earlier conversation]\nfoo", "in short: foo", "前面的对话：foo"]


@pytest.mark.parametrize("words", REWRITTEN)
def test_a_prompt_that_was_compacted_on_the_way_is_seen_whatever_its_summary_says(words: str) -> None:
    told = [event for at in range(3) for event in (user(long(f"u{at}")), said(long(f"a{at}")))]
    before = body("openai_chat", *told, user("go"))
    after = body("openai_chat", user(words), *told[4:], user("go"), said("ok"), user("on"))
    lines = [
        {"request": {**made, "metadata": {"session_id": "s"}}, "response": completion(answer)}
        for made, answer in ((before, "ok"), (after, "fine"))
    ]
    (transcript,) = read("\n".join(map(json.dumps, lines))).transcripts
    assert transcript.captured(1)["messages"] == after["messages"]
    assert transcript.history(1)["messages"] == [*before["messages"], *after["messages"][-2:]]
    assert "the prompt was rewritten before call 2" in transcript.notes


def completion(words: str) -> Wire:
    message = {"role": "assistant", "content": words}
    return {"object": "chat.completion", "created": 5, "model": "m", "choices": [{"message": message}]}


def test_calls_of_the_same_second_keep_the_order_of_the_file() -> None:
    told = [body("openai_chat", user("[summary] of before"), user("real"))]
    told.append(body("openai_chat", user("[summary] of before"), user("real"), said("ok 0"), user("next")))
    lines = [{"request": made, "response": completion(f"ok {at}"), "timestamp": 5} for at, made in enumerate(told)]
    (transcript,) = read("\n".join(map(json.dumps, lines))).transcripts
    assert [transcript.captured(call) for call in range(2)] == told
    made = replay(transcript, {"budget": {"soft_limit": 0}, "strategy": {"kind": "keep_last", "keep_turns": 1}})
    assert [made.request(call)["messages"] for call in range(2)] == [told[0]["messages"][1:], told[1]["messages"][-1:]]


@EACH
def test_a_side_chains_words_stay_in_the_side_chain(kind: str) -> None:
    session = Session()
    session.user(long("task", 60))
    session.reply("m1", use("t1", "Task", prompt="look"), text("asking"))
    session.user(long("SECRET of the other", 60), isSidechain=True, parentUuid=None)
    session.reply("s1", text("SECRET found"), isSidechain=True)
    session.user([{"type": "tool_result", "tool_use_id": "t1", "content": "done"}])
    session.reply("m2", text(long("so far", 60)))
    session.user("more")
    session.reply("m3", text("end"))
    main, *others = session.read().transcripts
    assert any("SECRET" in json.dumps(other.messages) for other in others)
    made = replay(main, {"budget": {"soft_limit": 60}, "strategy": {"kind": kind, **CUTTING[kind]}})
    assert not any("SECRET" in json.dumps(made.request(call)) for call in range(len(main.calls)))


@EVERY
@EACH
def test_a_branch_is_planned_from_its_own_messages(kind: str, dialect: str) -> None:
    """Two nodes go on from one beginning; what one says is in no prompt of the other, nor in its summaries."""
    shared = (user(long("q", 20)), said(long("a", 20)))
    peers = [(*shared, user(long(f"of {name}", 30)), said(long(f"by {name}", 30)), user("go")) for name in "AB"]
    builder = TranscriptBuilder(dialect)
    for peer in (*peers, *peers[::-1]):
        builder.call(builder.body(body(dialect, *peer)))
    config = {**FULL, "budget": {"soft_limit": 150}, "strategy": {"kind": kind, **CUTTING[kind]}}
    made = replay(builder.build(), config)
    for call, (own, other) in enumerate(["AB", "BA", "BA", "AB"]):
        request = json.dumps(made.request(call))
        assert f"of {other}" not in request and f"by {other}" not in request
        alone = TranscriptBuilder(dialect)
        alone.call(alone.body(body(dialect, *peers["AB".index(own)])))
        assert made.request(call) == replay(alone.build(), config).request(0)


@EVERY
def test_a_prompt_ends_before_its_own_answer(dialect: str) -> None:
    """A snapshot that ends with half an answer is the prompt of the next call only if there was one."""
    made = body(dialect, user("q"), said("partial"))
    (transcript,) = read(json.dumps(made), format=dialect).transcripts
    spoken = dialect_named(dialect)
    prompts = [transcript.captured(call)[LISTS[dialect]] for call in range(len(transcript.calls))]
    assert [[spoken.message(wire).role for wire in prompt] for prompt in prompts] == [["user"]]
    assert transcript.calls[0].usage == Usage()


def test_reasoning_is_a_kind_of_its_own_in_a_recording() -> None:
    session = Session()
    session.user("hi")
    session.reply("m1", {"type": "thinking", "thinking": "t" * 2400, "signature": "s" * 400}, text("hi"))
    session.user("go on")
    session.reply("m2", text("b"))
    made = replay(session.only(), FULL)
    assert made.calls[f"kind.{SpanKind.THINKING}"][1] == 600


@pytest.mark.parametrize("place", [0, 120, 160, 3000, 15_000])
def test_a_fact_is_missed_wherever_it_stood_in_a_long_result(place: int) -> None:
    """No preview is judged instead of the text: a name behind the first lines counts as much as one in front."""
    result = "x " * (place // 2) + "see /srv/orders/ledger_2026.csv for it" + " y" * 50
    builder = TranscriptBuilder("openai_chat")
    events = [user("q"), step("A"), said("noted"), user("which file?")]
    bodies = json.loads(json.dumps(body("openai_chat", *events)).replace('"rA"', json.dumps(result)))
    builder.call(builder.body(bodies), response={"role": "assistant", "content": "/srv/orders/ledger_2026.csv"})
    transcript = builder.build()
    masks = {"kind": "mask_tool_results", "keep": 0, "trigger": 0}
    kept, masked = (replay(transcript, {"strategy": strategy}) for strategy in (FULL["strategy"], masks))
    assert (kept.calls["lost"][0], masked.calls["lost"][0]) == (0, masked.calls["used"][0])
    assert masked.calls["lost"][0] >= 1
