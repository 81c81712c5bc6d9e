"""Repeated tool calls, and before which of them a plan had removed the first result."""

from __future__ import annotations

from typing import Any

import pytest

from core.readers.builder import Placed, TranscriptBuilder
from core.refetches import made_likelier, refetches
from core.replay import replay
from core.transcript import ROOT
from tests.runs import result, run, says, user, uses

FILE = "the file's text, which is long enough to be masked away. " * 20


def read_twice(*between: dict[str, Any], second: str = FILE, **arguments: Any) -> Any:
    arguments = arguments or {"path": "a.py", "limit": 5}
    return run(
        [
            user("Go."),
            uses("c1", "read_file", path="a.py", limit=5),
            result("c1", FILE),
            *between,
            uses("c9", "read_file", **arguments),
            result("c9", second),
            says("Done."),
        ]
    )


def test_a_reread_is_the_same_call_with_the_same_result() -> None:
    (again,) = refetches(read_twice(uses("c2", "list_files"), result("c2", "a.py")))
    assert (again.call, again.earlier, again.tool, again.span_id) == (2, 0, "read_file", "m2.0")
    assert (again.same_result, again.written_between, again.is_reread) == (True, False, True)


def test_arguments_are_compared_whatever_their_order() -> None:
    assert len(refetches(read_twice(limit=5, path="a.py"))) == 1
    assert refetches(read_twice(limit=6, path="a.py")) == []


def test_another_result_is_no_reread() -> None:
    (again,) = refetches(read_twice(second="other text"))
    assert (again.same_result, again.is_reread) == (False, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "writes"),
    [
        ("edit_file", {"path": "b.py"}, True),
        ("str_replace_editor", {"path": "b.py"}, True),
        ("TodoWrite", {}, True),
        ("applyPatch", {}, True),
        ("bash", {"command": "sed -i s/a/b/ a.py"}, True),
        ("bash", {"command": "cd x && rm -r y"}, True),
        ("bash", {"command": "echo hi > a.py"}, True),
        ("bash", {"command": "cat > a.py << 'EOF'\nx\nEOF"}, True),
        ("bash", {"command": "pytest -q 2>&1 | head -5 2>/dev/null"}, False),
        ("bash", {"command": "grep -n 'a -> b' a.py"}, False),
        ("read_settings", {"path": "b.py"}, False),
        ("search", {"query": "how to remove a row"}, False),
    ],
)
def test_a_write_in_between_is_a_reason(tool: str, arguments: dict[str, str], writes: bool) -> None:
    (again,) = refetches(read_twice(uses("c2", tool, **arguments), result("c2", "ok")))
    assert again.written_between is writes


def test_a_repeated_write_is_no_reread() -> None:
    messages = [
        user("Book it."),
        uses("c1", "book_flight", number="HAT052"),
        result("c1", "failed"),
        uses("c2", "book_flight", number="HAT052"),
        result("c2", "failed"),
        says("It fails."),
    ]
    (again,) = refetches(run(messages))
    assert (again.same_result, again.is_write, again.is_reread) == (True, True, False)


def test_the_last_call_has_no_second_result() -> None:
    messages = [user("Go."), uses("c1", "look"), result("c1", "x"), uses("c2", "look")]
    (again,) = refetches(run(messages))
    assert (again.call, again.same_result, again.is_reread) == (1, None, False)


def test_results_without_ids_are_told_by_their_order() -> None:
    first = uses("", "look", q="a")
    first["tool_calls"].append({**first["tool_calls"][0], "function": {"name": "look", "arguments": '{"q": "b"}'}})
    messages = [
        user("Go."),
        first,
        result("", "A"),
        result("", "B"),
        uses("", "look", q="b"),
        result("", "B"),
        says("!"),
    ]
    (again,) = refetches(run(messages))
    assert (again.span_id, again.same_result) == ("m3.0", True)


def test_another_branch_fetched_for_itself() -> None:
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    first = builder.add(ROOT, user("Go."))
    for call_id in ("c1", "c2"):
        made = uses(call_id, "look", f"I look for {call_id}.")
        builder.call(Placed(head, first), response=made)
        builder.extend(first, [made, result(call_id, "x")])
    assert refetches(builder.build()) == []


def at_once(*calls: tuple[str, str], results: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return a reply with several calls, and the results of the first of them."""
    replies = [uses(f"p{n}", name, path=path) for n, (name, path) in enumerate(calls)]
    made = [call for reply in replies for call in reply["tool_calls"]]
    told = [result(call["id"], text) for call, text in zip(made, results, strict=False)]
    return [{**replies[0], "tool_calls": made}, *told]


def test_the_same_call_twice_in_one_response_is_a_repetition_and_no_reread() -> None:
    read = ("read_file", "a.py")
    said = [user("Go."), *at_once(read, ("list_files", "."), read, read, results=("A", "B", "A", "C")), says("Done.")]
    found = refetches(run(said))
    assert [(one.call, one.earlier, one.is_at_once, one.is_reread) for one in found] == [(0, 0, True, False)] * 2
    assert [(one.message, one.span_id, one.same_result) for one in found] == [(2, "m2.0", True), (2, "m2.0", False)]
    assert made_likelier(replay(run(said), {"strategy": {"kind": "keep_last"}, "budget": {"soft_limit": 0}})) == []


def test_a_repetition_in_a_response_without_results() -> None:
    (again,) = refetches(run([user("Go."), *at_once(("look", "a"), ("look", "b"), ("look", "a"))]))
    assert (again.call, again.earlier, again.message, again.span_id, again.same_result) == (0, 0, -1, "", None)


def test_a_write_between_two_calls_of_a_response() -> None:
    calls = [("look", "a"), ("write_file", "a"), ("look", "a")]
    (again,) = refetches(run([user("Go."), *at_once(*calls, results=("1", "ok", "2")), says("Done.")]))
    assert (again.written_between, again.is_write) == (True, False)


def test_a_result_that_was_seen_counts_before_a_call_of_the_same_response() -> None:
    read = ("read_file", "a.py")
    said = [user("Go."), *at_once(read, results=(FILE,)), *at_once(read, read, results=(FILE, FILE)), says("Done.")]
    found = refetches(run(said))
    assert [(one.call, one.earlier, one.span_id, one.is_reread) for one in found] == [(1, 0, "m2.0", True)] * 2


def test_the_earlier_call_is_the_newest_one() -> None:
    said = [m for n in range(3) for m in (uses(f"c{n}", "read_file", path="a.py"), result(f"c{n}", FILE))]
    found = refetches(run([user("Go."), *said, says("Done.")]))
    assert [(one.call, one.earlier, one.span_id) for one in found] == [(1, 0, "m2.0"), (2, 1, "m4.0")]


def test_a_plan_makes_likelier_what_it_took_away() -> None:
    transcript = read_twice(uses("c2", "list_files"), result("c2", FILE))
    mask = {"kind": "mask_tool_results", "keep": 1, "trigger": 0}
    assert [again.call for again in made_likelier(replay(transcript, {"strategy": mask}))] == [2]
    assert made_likelier(replay(transcript, {"strategy": {**mask, "keep": 2}})) == []
    assert made_likelier(replay(transcript, {"strategy": {"kind": "full_history"}})) == []
