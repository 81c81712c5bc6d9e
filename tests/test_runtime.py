from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError, RequestError
from core.plan import Action, Status
from core.runtime import MOST_ENGINES, ContextRuntime, Hints
from core.wire import dump
from tests.cases import chat, tool_chat
from tests.engine_bodies import LISTS

CONFIG = {"counter": {"kind": "cjk_estimate"}, "budget": {"soft_limit": 700}, "strategy": {"kind": "keep_last"}}
SUMMARIES = {**CONFIG, "strategy": {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0}}


def request(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": copy.deepcopy(messages), **more}


def test_a_result_says_what_was_done() -> None:
    result = ContextRuntime.load(CONFIG).assemble(request(chat()))
    assert (result.status, result.excess, result.blockers) == (Status.TRIMMED, 0, ())
    assert (result.tokens_before, result.tokens_after) == (2578, 540)
    assert len(result.decisions) == 42
    assert sum(decision.tokens_after for decision in result.decisions) == 540


@pytest.mark.parametrize("source", ["path", "str path", "text", "dictionary"])
def test_a_runtime_is_loaded_from(source: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    sources = {"path": path, "str path": str(path), "text": json.dumps(CONFIG), "dictionary": CONFIG}
    runtime = ContextRuntime.load(sources[source])  # type: ignore[arg-type]
    assert runtime.config.budget.soft_limit == 700


def test_a_configuration_that_cannot_be_used() -> None:
    with pytest.raises(ConfigError, match="there is no 'magic'"):
        ContextRuntime.load({"strategy": {"kind": "magic"}})


def test_unknown_keys_and_their_order_survive() -> None:
    body = {"x_trace": {"id": [1]}, **request(chat()), "stream": True, "metadata": None}
    sent = ContextRuntime.load(CONFIG).assemble(body).request
    assert list(sent) == list(body)
    assert {name: value for name, value in sent.items() if name != "messages"} == {
        name: value for name, value in body.items() if name != "messages"
    }
    assert sent["messages"] == [body["messages"][0], *body["messages"][-8:]]


@pytest.mark.parametrize("budget", [0, 700, 10_000])
def test_the_request_is_left_as_it_was(budget: int) -> None:
    body = request(tool_chat())
    before = dump(body)
    for config in (CONFIG, SUMMARIES):
        result = ContextRuntime.load({**config, "budget": {"soft_limit": budget}}).assemble(body)
        result.request["messages"].append("more")
        result.request["model"] = "other"
        assert dump(body) == before


def test_a_model_need_not_be_named() -> None:
    assert ContextRuntime.load(CONFIG).assemble({"messages": chat()}).tokens_after == 540


@pytest.mark.parametrize("body", [None, [], "text", {}, {"messages": None}, {"messages": {}}])
def test_what_is_no_request(body: Any) -> None:
    with pytest.raises(RequestError, match="not a request body"):
        ContextRuntime.load(CONFIG).assemble(body)


def test_objects_of_client_libraries_are_told() -> None:
    with pytest.raises(RequestError, match="client library"):
        ContextRuntime.load(CONFIG).assemble({"messages": [{"role": "user", "content": object()}]})
    with pytest.raises(RequestError, match="client library"):
        ContextRuntime.load(CONFIG).assemble({"messages": [object()]})
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(RequestError, match="client library"):
        ContextRuntime.load(CONFIG).assemble({"messages": [], "metadata": circle})


@pytest.mark.parametrize("role", ["system", "user"])
@pytest.mark.parametrize("dialect", LISTS)
def test_objects_are_told_in_every_dialect(dialect: str, role: str) -> None:
    runtime = ContextRuntime.load({**CONFIG, "model": {"dialect": dialect}})
    before = [{"role": "user", "content": "hi"}] if dialect == "anthropic" else []  # it has no leading system message
    for wrong in (object(), {"role": role, "content": object()}, {"type": "x", "role": role, "x": object()}):
        with pytest.raises(RequestError, match="client library"):
            runtime.assemble({LISTS[dialect]: [*before, wrong]})


@pytest.mark.parametrize("key", [*sorted(set(LISTS.values())), "metadata"])
def test_endless_nesting_is_told(key: str) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    body = {key: [{"role": "user", "content": deep}]}
    with pytest.raises(RequestError, match="nested too deeply"):
        ContextRuntime.load(CONFIG).assemble({"messages": [], **body} if key == "metadata" else body)


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({"pin": ["m1.0"]}, "'pin'"),
        ({"pins": "m1.0"}, "'pins' is a list of texts"),
        ({"pins": [1]}, "'pins' is a list of texts"),
        ({"pins": 7}, "'pins' is a list of texts"),
        ({"goal": ["x"]}, "'goal' is a text"),
        (["m1.0"], "an object"),
        ({7: "x", "pin": "x"}, "Hints have no 7"),
    ],
)
def test_hints_that_cannot_be_used(hints: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        ContextRuntime.load(CONFIG).assemble(request(chat()), hints)


def test_hints_may_be_given_as_a_dictionary() -> None:
    runtime = ContextRuntime.load(CONFIG)
    pinned = runtime.assemble(request(chat()), {"pins": ["m4.0"], "goal": None, "facts": None})
    assert pinned.request == runtime.assemble(request(chat()), Hints(pins=("m4.0",))).request
    assert pinned.request["messages"][1] == chat()[5]


def test_a_session_gives_what_a_single_call_gives() -> None:
    runtime = ContextRuntime.load(SUMMARIES)
    session = runtime.session()
    for count in range(1, len(tool_chat()) + 1):
        body = request(tool_chat()[:count])
        live, alone = session.assemble(body), runtime.assemble(body)
        assert (dump(live.request), live.decisions) == (dump(alone.request), alone.decisions)


def test_messages_that_a_caller_changes_in_place() -> None:
    runtime = ContextRuntime.load(CONFIG)
    session = runtime.session()
    body = request(chat())
    session.assemble(body)
    body["messages"][35]["content"] = "changed"
    body["messages"].append({"role": "user", "content": "more"})
    live = session.assemble(body)
    assert dump(live.request) == dump(runtime.assemble(body).request)
    assert live.tokens_before == runtime.assemble(body).tokens_before


def test_values_that_python_takes_for_equal_are_told_apart() -> None:
    runtime = ContextRuntime.load({"strategy": {"kind": "full_history"}})
    session = runtime.session()
    for value in (1, True, 1.0, {"a": 1, "b": 2}, {"b": 2, "a": 1}):
        call = {"type": "tool_use", "id": "c", "name": "f", "input": {"deep": [value]}}
        body = {"model": "claude-opus-4-5", "max_tokens": 9, "messages": [{"role": "assistant", "content": [call]}]}
        session.assemble(body)
        assert session.assemble(body).decisions == runtime.assemble(body).decisions


@pytest.mark.parametrize("named", [{}, {"model": {"name": "gpt-4o"}}])
def test_a_model_that_changes_within_a_session(named: dict[str, Any]) -> None:
    runtime = ContextRuntime.load({**named, "budget": {"soft_limit": 900}, "strategy": {"kind": "keep_last"}})
    session = runtime.session()
    for count, model in ((5, "gpt-4o"), (9, "gpt-4"), (21, "gpt-4o"), (41, "gpt-4")):
        body = {**request(chat()[:count]), "model": model}
        assert session.assemble(body).decisions == runtime.assemble(body).decisions


def test_a_session_outlives_the_engines_kept() -> None:
    runtime = ContextRuntime.load({**CONFIG, "model": {"name": "gpt-4o"}})
    session = runtime.session()
    session.assemble(request(chat()[:21]))
    for at in range(MOST_ENGINES + 5):
        runtime.assemble({"model": f"m{at}", "messages": []})
    body = request(chat())
    assert session.assemble(body).decisions == runtime.assemble(body).decisions


def test_a_failed_call_leaves_no_trace() -> None:
    runtime = ContextRuntime.load(CONFIG)
    session = runtime.session()
    session.assemble(request(chat()[:21]))
    for bad, hints in ((request(chat()[:3]), {"no": 1}), (request([*chat()[:5], {"role": object()}]), None)):
        with pytest.raises(RequestError):
            session.assemble(bad, hints)
        body = request([*chat()[:7], {"role": "user", "content": "other"}, *chat()[8:30]])
        assert session.assemble(body).decisions == runtime.assemble(body).decisions


def test_one_runtime_serves_many_threads() -> None:
    runtime = ContextRuntime.load(SUMMARIES)
    bodies = [{**request(tool_chat()[:count]), "model": f"gpt-4o-{count % 5}"} for count in range(1, 66)]
    expected = [dump(runtime.assemble(body).request) for body in bodies]
    fresh = ContextRuntime.load(SUMMARIES)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda body: dump(fresh.assemble(body).request), bodies * 4))
    assert found == expected * 4


def test_what_a_stub_names_can_be_had_back() -> None:
    body = request(tool_chat())
    runtime = ContextRuntime.load(
        {
            **CONFIG,
            "rules": [{"match": {"kind": "tool_result"}, "tier": "contextual"}],
            "strategy": {"kind": "tiered_injection", "keep_turns": 16, "trigger": None},
        }
    )
    result = runtime.assemble(body)
    stubbed = [made for made in result.decisions if made.action is Action.STUB]
    assert stubbed
    for made in stubbed:
        at = int(made.span_id[1:].partition(".")[0]) + 1
        assert runtime.restore(made.span_id, body) == body["messages"][at]["content"]
    assert runtime.restore("s0.0", body) == body["messages"][0]["content"]
    with pytest.raises(RequestError, match=r"m99\.0"):
        runtime.restore("m99.0", body)


def test_what_a_stub_of_several_messages_names_can_be_had_back() -> None:
    body = request(chat())
    runtime = ContextRuntime.load({"budget": {"soft_limit": 400}, "strategy": {"kind": "span_triage"}})
    stub = next(m["content"] for m in runtime.assemble(body).request["messages"] if " to m" in m["content"])
    named = stub.partition(": ")[2].partition(",")[0]
    first, last = (int(end[1:].partition(".")[0]) for end in named.split(" to "))
    assert last > first
    spoken = [message["content"] for message in body["messages"][1:]]
    assert runtime.restore(named, body) == "\n\n".join(spoken[first : last + 1])
    assert runtime.restore(named, body, {"goal": "x"}) == runtime.restore(named, body)
    with pytest.raises(RequestError, match="m99"):
        runtime.restore("m0.0 to m99.0", body)


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iV"}}
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA" * 9}
SEEN = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, PICTURE]},
        {"role": "assistant", "content": "A boat."},
        {"role": "user", "content": ""},
    ]
}
THOUGHT = {"input": [{"role": "user", "content": "go"}, SEALED, {"role": "assistant", "content": "gone"}]}


@pytest.mark.parametrize(
    ("body", "span_id", "text"),
    [
        (SEEN, "m0.0", "What is it?"),
        (SEEN, "m2.0", ""),
        (SEEN, "m1.0 to m1.0", "A boat."),
        (SEEN, "m0.0 to m1.0", "What is it?\n\n[m0.1: image, no text]\n\nA boat."),
        (THOUGHT, "m0.0 to m2.0", "go\n\n[m1.0: thinking, no text]\n\ngone"),
    ],
)
def test_what_comes_back_of_a_span(body: dict[str, Any], span_id: str, text: str) -> None:
    assert ContextRuntime.load(CONFIG).restore(span_id, body) == text


@pytest.mark.parametrize(
    ("body", "span_id", "problem"),
    [
        (SEEN, "m0.1", r"The span m0\.1 \(image\) has no text; take it from the request as it is\."),
        (THOUGHT, "m1.0", r"The span m1\.0 \(thinking\) has no text"),
        (SEEN, "m2.0 to m0.0", r"The span m2\.0 stands after m0\.0; ask for 'm0\.0 to m2\.0'\."),
        (SEEN, "m0.0 to ", "no span 'm0.0 to '"),
        (SEEN, " to m0.0", "no span ' to m0.0'"),
        (SEEN, "m0.0 to m1.0 to m2.0", "no span 'm0.0 to m1.0 to m2.0'"),
        (SEEN, "m0.0 to", "no span 'm0.0 to'"),
        (SEEN, "overhead", "no span 'overhead'"),
    ],
)
def test_what_has_no_text_or_is_no_span_is_said(body: dict[str, Any], span_id: str, problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        ContextRuntime.load(CONFIG).restore(span_id, body)


RESULTS = [{"match": {"kind": "tool_result"}, "tier": "contextual"}]


@pytest.mark.parametrize(
    ("strategy", "rules", "stub"),
    [
        ({"kind": "span_triage"}, [], "[left out: m1.0 to m2.0, 2 messages, 611 tokens; ask for it by this id]"),
        (
            {"kind": "mask_tool_results", "keep": 0},
            [],
            "[left out: m2.0, 2 lines, 601 tokens of look; ask for it by this id]",
        ),
        ({"kind": "tiered_injection"}, RESULTS, "[left out: m2.0, 601 tokens of look; ask for it by this id]"),
    ],
)
def test_a_stub_says_how_to_get_back_what_it_stands_for(
    strategy: dict[str, Any], rules: list[dict[str, Any]], stub: str
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "at sea \n" + "at sea " * 342},
        {"role": "user", "content": "And now?"},
    ]
    runtime = ContextRuntime.load({**CONFIG, "budget": {"soft_limit": 200}, "rules": rules, "strategy": strategy})
    result = runtime.assemble(request(messages))
    assert [made.replacement for made in result.decisions if made.action is Action.STUB and made.replacement] == [stub]
    named = stub.removeprefix("[left out: ").partition(",")[0]
    assert runtime.restore(named, request(messages)).endswith(messages[2]["content"])


def test_exact_recall_changes_nothing_whatever_is_asked_for() -> None:
    for kind, more in (
        ("keep_last", {}),
        ("summarize_and_keep", {"mode": "published"}),
        ("tiered_injection", {"trigger": 0}),
    ):
        for limit in (100, None):
            strategy = {"kind": kind, "exact_recall": True, **more}
            config = {"counter": CONFIG["counter"], "budget": {"soft_limit": limit}, "strategy": strategy}
            result = ContextRuntime.load(config).assemble(request(chat()))
            assert result.request == request(chat())
            assert result.status is (Status.FITS if kind == "keep_last" and limit is None else SKIPPED)
            assert bool(result.excess) == bool(result.blockers) == (limit is not None)


SKIPPED = Status.SKIPPED_EXACT_RECALL
