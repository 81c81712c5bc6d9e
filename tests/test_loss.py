"""What a plan lost of what recorded responses used, on runs small enough to count by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.decisions import Action
from core.loss import LEAST_USED, Loss
from core.readers.builder import Placed, TranscriptBuilder
from core.reference_classes import ReferenceClass
from core.replay import replay
from core.spans import SpanKind
from core.transcript import ROOT, Transcript
from core.uses import uses_of
from tests.runs import result, run, says, tool, user, uses

BODY = "def total_price(order):\n    return order.net_sum + order.tax_sum\n"
FILLER = "Nothing of note here. " * 40
MASK_1 = {"kind": "mask_tool_results", "keep": 1, "trigger": 0}
CODING = [
    user("Fix the rounding in shop/prices.py, ticket ABC-17."),
    uses("c1", "read_file", path="shop/prices.py"),
    result("c1", BODY + FILLER),
    uses("c2", "read_file", path="shop/taxes.py"),
    result("c2", "TAX_RATE_STEPS = (731, 942)\n" + FILLER),
    uses("c3", "edit_file", "In total_price", path="shop/prices.py", old="    return order.net_sum + order.tax_sum"),
    result("c3", "done"),
    says("Done for ABC-17: total_price now uses TAX_RATE_STEPS, 731 first."),
]


def measured(transcript: Transcript, strategy: dict[str, Any], budget: int | None = None) -> Loss:
    config: dict[str, Any] = {"strategy": strategy}
    if budget is not None:
        config["budget"] = {"soft_limit": budget}
    return replay(transcript, config).loss


def forms(loss: Loss) -> list[tuple[int, str]]:
    return [(item.call, item.form) for item in loss.items]


def test_what_responses_used_of_their_prompts() -> None:
    found = uses_of(run(CODING)).calls
    assert [[use.form for use in call.used] for call in found] == [
        ["shop/prices.py"],
        [],
        ["total_price", "shop/prices.py", "order.net_sum", "order.tax_sum"],
        ["ABC-17", "total_price", "TAX_RATE_STEPS", "731"],
    ]
    assert [[use.form for use in call.copied] for call in found] == [
        [],
        [],
        ["return order.net_sum + order.tax_sum"],
        [],
    ]
    assert [call.extracted for call in found] == [1, 1, 4, 4]


def test_masked_results_are_lost_with_their_decision() -> None:
    loss = measured(run(CODING), MASK_1)
    assert loss.used == [1, 0, 4, 4]
    assert loss.lost == [0, 0, 3, 2]
    assert loss.copied == [0, 0, 1, 0]
    assert loss.copied_lost == [0, 0, 1, 0]
    assert forms(loss) == [
        (2, "total_price"),
        (2, "order.net_sum"),
        (2, "order.tax_sum"),
        (3, "TAX_RATE_STEPS"),
        (3, "731"),
    ]
    first = loss.items[0]
    assert (first.span_id, first.span_kind, first.action) == ("m2.0", SpanKind.TOOL_RESULT, Action.STUB)
    assert (first.reason, first.setting, first.since) == ("an older tool result", "strategy.keep", 2)
    assert [item.since for item in loss.items] == [2, 2, 2, 3, 3]
    assert [item.held_by for item in loss.items] == [("m2.0",)] * 3 + [("m4.0",)] * 2
    assert (loss.first_call, loss.calls_with_loss, loss.distinct) == (2, 2, 5)
    assert (loss.from_results, loss.from_own_words) == (5, 0)


def test_a_name_repeated_in_a_kept_span_is_not_lost() -> None:
    """The edit of call 2 repeats `total_price`, which call 3 uses when the file itself is masked."""
    loss = measured(run(CODING), MASK_1)
    assert (3, "total_price") not in forms(loss)


def test_losses_are_recoverable_where_the_stub_names_the_span() -> None:
    assert measured(run(CODING), MASK_1).recoverable == 5
    assert measured(run(CODING), {**MASK_1, "placeholder": "[gone: {lines} lines]"}).recoverable == 0


def test_a_stub_for_a_stretch_names_what_is_in_it() -> None:
    call = uses("c1", "look_up", q="a")
    call["tool_calls"].append({**call["tool_calls"][0], "id": "c2"})
    messages = [
        user("Look it up."),
        call,
        result("c1", "order W9348897 " + FILLER),
        result("c2", FILLER),
        says("I have it."),
        user("Which one?"),
        says("W9348897."),
    ]
    loss = measured(run(messages), {"kind": "span_triage"}, budget=60)
    assert [(item.span_id, item.action, item.recoverable) for item in loss.items] == [("m2.0", Action.STUB, True)]


def test_a_strategy_that_changes_nothing_did_nothing() -> None:
    loss = measured(run(CODING), {"kind": "full_history"})
    assert loss.did_nothing
    assert (loss.references.lost, loss.references.used, loss.references.value) == (0, 9, None)
    assert loss.totals()["share"] is None


def test_few_uses_have_no_share() -> None:
    loss = measured(run(CODING), MASK_1)
    assert not loss.did_nothing
    assert (loss.references.lost, loss.references.used, loss.references.value) == (5, 9, None)
    assert loss.lines.value is None


def test_enough_uses_have_one() -> None:
    names = [f"field_{letter}_name" for letter in "abcdefghijklmnopqrstuvwxyz"[:LEAST_USED]]
    messages = [
        user("List the fields."),
        uses("c1", "list_fields"),
        result("c1", "\n".join([*names, FILLER])),
        uses("c2", "list_more"),
        result("c2", "field_a_name and nothing else. " + FILLER),
        says(" ".join(names)),
    ]
    loss = measured(run(messages), MASK_1)
    assert (loss.references.lost, loss.references.used) == (LEAST_USED - 1, LEAST_USED)
    assert loss.references.value == (LEAST_USED - 1) / LEAST_USED
    assert loss.by_class[ReferenceClass.IDENTIFIER].lost == LEAST_USED - 1
    assert loss.without_identifiers.used == 0


def test_dropped_messages_are_lost_from_the_call_that_dropped_them() -> None:
    messages = [
        user("My order is W9348897."),
        says("Thanks, I have noted it."),
        user("What is the weather?"),
        says("Sunny."),
        user("And tomorrow?"),
        says("Rain."),
        user("So, which order was it?"),
        says("It was W9348897."),
    ]
    loss = measured(run(messages), {"kind": "keep_last", "keep_messages": 2}, budget=1)
    assert loss.lost == [0, 0, 0, 1]
    (item,) = loss.items
    assert (item.call, item.form, item.span_id, item.span_kind) == (3, "W9348897", "m0.0", SpanKind.USER)
    assert (item.action, item.since, item.recoverable) == (Action.DROP, 1, False)


def test_what_only_a_summary_keeps_is_told_apart() -> None:
    messages = [
        user("Order W9348897 is late. " + FILLER),
        says("I see. " + FILLER),
        user("The other one is W1112223, by the way. " + FILLER),
        says("Noted. " + FILLER),
        user("Which orders?"),
        says("W9348897 and W1112223."),
    ]
    strategy = {"kind": "summarize_and_keep", "keep_messages": 1, "min_turns": 0, "min_steps": 0}
    loss = measured(run(messages), strategy, budget=300)
    assert loss.used == [0, 0, 2]
    assert (loss.lost[2], loss.retold[2]) == (0, 2)
    shorter = [{**messages[0], "content": FILLER + messages[0]["content"]}, *messages[1:]]
    loss = measured(run(shorter), strategy, budget=300)
    assert (loss.lost[2], loss.retold[2]) == (1, 1)
    assert loss.items[0].action is Action.SUMMARISE


def test_whole_words_only() -> None:
    messages = [
        user("The code is 1740."),
        says("Fine."),
        user("There are 17403 rows, and 21.1740 of something."),
        says("The code is 1740."),
    ]
    loss = measured(run(messages), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert forms(loss) == [(1, "1740")]


def test_the_system_part_keeps_what_it_holds() -> None:
    messages = [user("Hi, order W9348897."), says("Hello."), user("Which desk?"), says("Desk ABC-17 for W9348897.")]
    loss = measured(run(messages, system="Desk ABC-17 answers."), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert forms(loss) == [(1, "W9348897")]


@pytest.mark.parametrize(
    ("said", "answered", "form", "text"),
    [
        ("Due on March 10, as agreed.", "It is due on 10 March.", "--03-10", "March 10"),
        ("Due on 2026-03-10, as agreed.", "It is due on March 10.", "--03-10", "2026-03-10"),
        ("Due on 10 March 2026.", "It is due on 2026-03-10.", "2026-03-10", "10 March 2026"),
        ("It weighs 37kg.", "That is 37 kg.", "37 kg", "37kg"),
        ("It costs 12,751 in all.", "It costs 12751.", "12751", "12,751"),
        ("Ask Ann@Shop.example for it.", "Ask ann@shop.example.", "ann@shop.example", "Ann@Shop.example"),
        ("See /srv/shop/prices.py for it.", "In /srv/shop/prices.py.", "/srv/shop/prices.py", "/srv/shop/prices.py"),
    ],
)
def test_a_lost_reference_is_told_as_its_span_spells_it(said: str, answered: str, form: str, text: str) -> None:
    """What it is looked for by may stand nowhere in the transcript."""
    messages = [user(said), says("Yes."), user("And?"), says(answered)]
    loss = measured(run(messages), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert [(item.form, item.text) for item in loss.items] == [(form, text)]
    assert text in said


def test_a_lost_reference_of_a_tool_call_is_told_as_its_arguments_spell_it() -> None:
    """The arguments are JSON, in which the text has its escapes."""
    messages = [
        user("Book it."),
        uses("c1", "book", when="on March\u00a010, 2026 or March 11, 2026"),
        result("c1", "ok"),
        says("Booked."),
        user("When?"),
        says("On 2026-03-11."),
    ]
    loss = measured(run(messages), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert [(item.form, item.text) for item in loss.items] == [("2026-03-11", "March 11, 2026")]


def test_a_tool_put_aside_takes_its_description_with_it() -> None:
    tools = [tool("run_python", "Runs code as in manual ABC-17. " + "It has many options. " * 30, code="string")]
    groups = [{"name": "code", "keywords": ["python"], "tools": ["run_*"]}]
    strategy = {"kind": "tiered_injection", "groups": groups}
    loss = measured(run([user("Hi."), says("See manual ABC-17.")], tools=tools), strategy)
    (item,) = loss.items
    assert (item.form, item.span_id, item.span_kind) == ("ABC-17", "t0", SpanKind.TOOL_DEFINITION)
    assert (item.action, item.since) == (Action.DEFER, 0)


ONE_OF_EACH = {
    ReferenceClass.URL: "https://shop.example/items",
    ReferenceClass.EMAIL: "ann@shop.example",
    ReferenceClass.UUID: "253fd5ef-38bf-4f4a-804a-98df5088a868",
    ReferenceClass.DATE: "2026-03-10",
    ReferenceClass.PATH: "shop/prices.py",
    ReferenceClass.HASH: "5c565b72",
    ReferenceClass.ERROR: "ENOENT",
    ReferenceClass.ID: "ABC-17",
    ReferenceClass.NUMBER: "302.67",
    ReferenceClass.IDENTIFIER: "total_price",
    ReferenceClass.QUOTED: '"no such order"',
    ReferenceClass.CJK: "《密室》",
}


def test_each_class_is_counted_apart() -> None:
    everything = " ; ".join(ONE_OF_EACH.values())
    messages = [
        user("Look it up."),
        uses("c1", "look_up", q="a"),
        result("c1", everything + FILLER),
        uses("c2", "look_up", q="b"),
        result("c2", "nothing"),
        says(everything),
    ]
    found = measured(run(messages), MASK_1).totals()["by_class"]
    assert list(ReferenceClass) == list(ONE_OF_EACH)
    assert found == {str(kind): [1, 1] for kind in ReferenceClass}


def test_names_of_tools_and_parameters_are_no_references() -> None:
    messages = [
        user("Please use read_file with file_path, and look_up."),
        uses("c1", "look_up", "I use read_file and file_path", query_text="weather"),
    ]
    (call,) = uses_of(run(messages, tools=[tool("read_file", file_path="string")])).calls
    assert call.used == ()


def test_parts_of_a_reference_count_where_the_whole_does_not_stand() -> None:
    messages = [
        user("Look into /srv/shop and at https://shop.example/api/items."),
        uses("c1", "read_file", path="/srv/shop/new/a.py", url="https://shop.example/api/items?page=2&user=x"),
    ]
    (call,) = uses_of(run(messages)).calls
    assert [use.form for use in call.used] == ["shop.example/api/items", "/srv/shop"]


def test_only_what_stands_before_the_response_is_used() -> None:
    messages = [user("Hi."), says("I name ABC-17."), user("Go on."), says("ABC-17 it is.")]
    assert [len(call.used) for call in uses_of(run(messages)).calls] == [0, 1]


def branched() -> Transcript:
    """Two calls on one branch, and a third on another that never saw W1112223."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    first = builder.add(ROOT, user("Order W9348897."))
    builder.call(Placed(head, first), response=says("Yes, W9348897."))
    second = builder.extend(first, [says("Yes, W9348897."), user("And W1112223.")])
    builder.call(Placed(head, second), response=says("W9348897 and W1112223."))
    third = builder.extend(first, [says("No."), user("Which ones?")])
    builder.call(Placed(head, third), response=says("W9348897 and W1112223."))
    return builder.build()


def test_branches_do_not_see_each_other() -> None:
    assert [len(call.used) for call in uses_of(branched()).calls] == [1, 2, 1]
    loss = measured(branched(), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert loss.lost == [0, 1, 1]
    assert [item.since for item in loss.items] == [1, 1]


def compacted() -> Transcript:
    """The second call was made after a compaction: its window had a summary in the place of the first messages."""
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    first = builder.add(ROOT, user("Order W9348897 of client ABC-17. " + FILLER))
    builder.call(Placed(head, first), response=says("Noted."))
    whole = builder.extend(first, [says("Noted."), user("Which order?")])
    short = builder.extend(ROOT, [user("Summary: order W9348897, case XYZ-99."), user("Which order?")])
    builder.call(Placed(head, short), history=whole, response=says("W9348897 of ABC-17, XYZ-99."))
    return builder.build()


def test_uses_are_of_the_captured_prompt_and_losses_of_the_history() -> None:
    """ABC-17 had left the window when it was named; XYZ-99 never stood in the history, so no plan can lose it."""
    assert [use.form for use in uses_of(compacted()).calls[1].used] == ["W9348897", "XYZ-99"]
    loss = measured(compacted(), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert forms(loss) == [(1, "W9348897")]
    assert measured(compacted(), {"kind": "as_captured"}).did_nothing


def test_an_unrecorded_response_is_unknown_and_not_nothing() -> None:
    builder = TranscriptBuilder("openai_chat")
    head = builder.head({"model": "gpt-4o", "messages": []})
    first = builder.add(ROOT, user("Order W9348897."))
    builder.call(Placed(head, first), response=says("W9348897 it is."))
    builder.call(Placed(head, builder.extend(first, [says("W9348897 it is."), user("And now?")])))
    loss = measured(builder.build(), {"kind": "keep_last", "keep_messages": 1}, budget=1)
    assert (loss.used, loss.lost, loss.unknown, loss.references.used) == ([1, None], [0, None], 1, 1)


def test_columns_and_totals() -> None:
    made = replay(run(CODING), {"strategy": MASK_1})
    assert made.calls["used"] == [1, 0, 4, 4]
    assert made.calls["lost"] == [0, 0, 3, 2]
    assert {"used", "lost"} <= set(made.calls)
    assert len(made.calls) == len(list(made.calls))
    totals = made.loss.totals()
    assert json.loads(json.dumps(totals)) == totals
    assert totals["by_class"] == {"path": [0, 2], "id": [0, 1], "number": [1, 1], "identifier": [4, 5]}
    assert totals["by_span_kind"] == {"tool_result": 5}
    assert (totals["copied"], totals["copied_lost"]) == (1, 1)


@pytest.mark.parametrize("strategy", [{"kind": "keep_last"}, MASK_1, {"kind": "tiered_injection", "trigger": 0}])
def test_the_loss_of_a_call_does_not_depend_on_later_ones(strategy: dict[str, Any]) -> None:
    whole = measured(run(CODING), strategy, budget=120)
    part = measured(run(CODING[:6]), strategy, budget=120)
    assert whole.lost[:3] == part.lost
    assert whole.used[:3] == part.used


def test_the_same_is_measured_under_any_hash_seed() -> None:
    code = (
        "from tests.test_loss import *\n"
        "found = measured(run(CODING), MASK_1)\n"
        "print(found.totals(), found.items)\n"
        "text = '\\n'.join(f'{word}_name is in a line of its own' for word in FILLER.split())\n"
        "print(uses_of(run([user(text), says(text)])).calls)"
    )
    told = {_printed(code, seed) for seed in ("0", "1", "77")}
    assert len(told) == 1


def _printed(code: str, seed: str) -> str:
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    made = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, check=True)
    return made.stdout.decode()
