"""Results told as text in user messages: known where they follow a reply, masked and kept like any other result."""

from __future__ import annotations

from typing import Any

import pytest

from core.advice import advised
from core.advice_tree import Leaf
from core.dialects import Message, Part, PartKind
from core.errors import RequestError
from core.findings import findings
from core.hint_notes import CallNotes
from core.hints import Hints
from core.marks import STUB
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.runtime import ContextRuntime
from core.spans import SpanKind
from core.told_results import as_result
from core.transcript import Transcript
from core.validity import validate
from tests.runs import run, says, user

LINES = "".join(f"line {n} of a long result\n" for n in range(60))
FORMS = {
    "Roo Code": ("[read_file for 'a.py'. Reading several at once is better.] Result:\n" + LINES, "read_file"),
    "Roo Code without a place": ("[update_todo_list] Result:\n" + LINES, "update_todo_list"),
    "a command of two lines": ("[execute_command for 'cd x\nls'] Result:\n" + LINES, "execute_command"),
    "OpenHands": ("EXECUTION RESULT of [execute_bash]:\n" + LINES, "execute_bash"),
    "SWE-agent": ("OBSERVATION:\n" + LINES, ""),
    "SWE-agent's shell": (LINES + "\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$ ", ""),
    "mini-swe-agent": ("<returncode>0</returncode>\n<output>\n" + LINES + "</output>", ""),
    "a chat template": ("<tool_response>\n" + LINES + "</tool_response>", ""),
}
NONE = [
    "Go on.",
    "observation: the pump leaks",
    "Observation: it works now",
    "[1] Result: good",
    "[note] result: good",
    "[note] Result: good",
    "[note] Result:\ngood",
    "[Staging] Result: build failed, please look at it.",
    "[read_file] Result: is what I see in the log, why?",
    "OBSERVATION: please never delete these files.",
    "<tool_response> is a tag, what does it mean?",
    "EXECUTION RESULT of [ls]: what does this line of the log mean?",
    "<returncode>1</returncode> is what it says.",
    "I see this:\n(Current directory: /r)\nbash-$ ",
    "Look at this: EXECUTION RESULT of [ls]:\nx",
    "My bash-$ prompt is gone.",
    "[summary] asked about a file",
    f"{STUB} m2.0, 90 tokens of read]",
    "",
]


def message(*texts: str, role: str = "user") -> Message:
    return Message(role, tuple(Part(PartKind.TEXT, text, place=at) for at, text in enumerate(texts)))


def told(text: str, steps: int = 8) -> Transcript:
    """An agent's run in plain text: one task, then replies and what they got."""
    said = [
        m for n in range(steps) for m in (says(f"I look at part {n}."), user(text.replace("line 0 ", f"part {n} ")))
    ]
    return run([user("Mend the fault in a.py."), *said, says("Done.")])


def played(transcript: Transcript, **said: Any) -> Replay:
    return replay(transcript, {"strategy": {"kind": "full_history"}, **said})


@pytest.mark.parametrize("form", FORMS)
def test_known_forms_are_told_with_their_tool(form: str) -> None:
    text, tool = FORMS[form]
    made = as_result(message(text))
    assert [(part.told, part.name, part.kind) for part in made.parts] == [(True, tool, PartKind.TEXT)]
    assert (made.results, made.is_said) == ([*made.parts], False)


@pytest.mark.parametrize("text", NONE)
def test_what_people_write_is_not(text: str) -> None:
    said = message(text)
    assert as_result(said) is said


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_user_messages_tell_results(role: str) -> None:
    said = message(FORMS["OpenHands"][0], role=role)
    assert as_result(said) is said


def test_patterns_of_a_hint_take_the_place_of_the_known_forms() -> None:
    mine, known = message("RESULT> 3"), message(FORMS["OpenHands"][0])
    assert as_result(mine, ["^RESULT>"]).results and not as_result(mine).results
    assert not as_result(known, ["^RESULT>"]).results
    assert not as_result(known, []).results


def test_a_message_of_several_texts_is_one_result_and_what_a_person_says_in_it_stays_theirs() -> None:
    head, rest = "[ask_followup_question for 'Which?'] Result:", "<environment_details>\nx\n</environment_details>"
    made = as_result(message(head, "the text", rest))
    assert [part.told for part in made.parts] == [True, True, True]
    answered = as_result(message(head, "<answer>\nThe first one.\n</answer>", rest))
    assert [part.told for part in answered.parts] == [True, False, True]
    assert (made.is_said, answered.is_said) == (False, True)


def test_what_a_person_says_beside_a_result_stays_theirs() -> None:
    first, second = FORMS["OpenHands"][0], FORMS["Roo Code"][0]
    merged = as_result(message(first, "Stop. Never touch production.", second))
    assert [(part.told, part.name) for part in merged.parts] == [
        (True, "execute_bash"),
        (False, ""),
        (True, "read_file"),
    ]
    assert merged.is_said


def test_what_a_strategy_put_in_is_no_result_whatever_a_hint_says() -> None:
    summary = message("[summary] RESULT> 3")
    assert as_result(summary, ["RESULT>"]) is summary


@pytest.mark.parametrize("form", FORMS)
def test_a_told_result_goes_with_its_reply_and_opens_no_turn(form: str) -> None:
    text, tool = FORMS[form]
    log = played(told(text)).plan(8).log
    assert [(unit.first, unit.stop) for unit in log.units] == [(0, 1), *((n, n + 2) for n in range(1, 17, 2))]
    assert (log.turns, len(log.steps), log.last_user, log.deepest) == ([0], 8, 0, 8)
    span = log.units[1].spans[1]
    assert (span.kind, span.role, span.tool) == ("tool_result", "user", tool or "tool")


@pytest.mark.parametrize("form", FORMS)
def test_the_task_and_what_follows_no_reply_is_the_users(form: str) -> None:
    text, _ = FORMS[form]
    log = played(run([user(text), user(text), says("I see."), user("No."), user(text), says("Well.")])).plan(1).log
    assert {span.kind for unit in log.units for span in unit.spans} == {"user", "assistant"}
    assert log.turns == [0, 1, 3, 4]


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "anthropic", "gemini"])
@pytest.mark.parametrize("form", FORMS)
def test_masking_puts_a_placeholder_in_the_users_message(form: str, dialect: str) -> None:
    transcript = played(told(FORMS[form][0]), model={"dialect": dialect}).transcript
    mask = {"kind": "mask_tool_results", "keep": 2, "trigger": 0}
    config = {"model": {"dialect": dialect}, "strategy": mask}
    made, whole = replay(transcript, config), replay(transcript, {**config, "strategy": {"kind": "full_history"}})
    runtime = ContextRuntime.load(config)
    for call in range(9):
        plan, body = made.plan(call), made.request(call)
        stubs = [one for one in plan.decisions if one.action == "stub"]
        assert [one.span_id for one in stubs] == [f"m{2 * n + 2}.0" for n in range(max(0, call - 2))]
        assert all((one.replacement or "").startswith(STUB) for one in stubs)
        assert not validate(body, dialect)
        assert runtime.assemble(transcript.history(call)).request == body
        assert plan.tokens_after == runtime.assemble(body).tokens_before
        assert len(body[LISTS[dialect]]) == len(whole.request(call)[LISTS[dialect]])
    assert not made.loss.did_nothing
    restored = runtime.restore("m2.0", transcript.history(8))
    assert restored == FORMS[form][0].replace("line 0 ", "part 0 ")


LISTS = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}


def test_the_texts_of_one_message_count_as_one_result() -> None:
    parts = [{"type": "text", "text": text} for text in ("[read_file for 'a'] Result:", LINES, "<environment_details>")]
    said = [m for n in range(4) for m in (says(f"Step {n}."), {"role": "user", "content": parts})]
    made = played(
        run([user("Go."), *said, says("Done.")]), strategy={"kind": "mask_tool_results", "keep": 2, "trigger": 0}
    )
    assert [one.span_id for one in made.plan(4).decisions if one.action == "stub"] == ["m2.1", "m4.1"]


def test_the_newest_steps_are_kept_and_the_task_with_them() -> None:
    transcript = told(FORMS["OpenHands"][0])
    made = played(transcript, budget={"soft_limit": 1_200}, strategy={"kind": "keep_last", "keep_turns": 2})
    sent = made.request(8)["messages"]
    assert sent == [transcript.messages[0], *transcript.messages[13:17]]
    dropped = [one for one in made.plan(8).decisions if one.action == "drop"]
    assert {one.setting for one in dropped} == {"strategy.keep_turns (as steps: too few turns)"}
    assert [one.span_id for one in dropped] == [f"m{n}.0" for n in range(1, 13)]


def test_advice_findings_and_the_tool_share_see_them() -> None:
    transcript = told(FORMS["SWE-agent"][0], steps=20)
    whole = played(transcript, budget={"soft_limit": 4_000})
    found = advised(whole)
    assert found is not None and found.advice.leaf is Leaf.PROJECT
    assert found.prompt.measured.tool_output == whole.plan(20).kinds()[SpanKind.TOOL_RESULT]
    assert "tool_output_share" in {one.name for one in findings(whole)}


def test_hints_of_a_recording_and_of_production_are_the_same() -> None:
    """An agent with a form of its own says which; without a hint, or with none at all, its results are the user's."""
    messages = [
        user("Go."),
        *(m for n in range(5) for m in (says(f"{n}?"), user(f"RESULT> {n} {LINES}"))),
        says("Done."),
    ]
    config = {"strategy": {"kind": "mask_tool_results", "keep": 1, "trigger": 0}}
    masked = {}
    given: dict[str, dict[str, Any] | None] = {
        "mine": {"results": ["^RESULT>"]},
        "none": {"results": []},
        "known": None,
    }
    for name, hints in given.items():
        builder = TranscriptBuilder("openai_chat")
        for end in range(1, len(messages), 2):
            builder.call(builder.body({"model": "gpt-4o", "messages": messages[:end]}), hints=hints)
        made, session = replay(builder.build(), config), ContextRuntime.load(config).session()
        for call in range(6):
            assert made.request(call) == session.assemble(made.prompt(call), hints).request
        masked[name] = sum(one.action == "stub" for one in made.plan(5).decisions)
    assert masked == {"mine": 4, "none": 0, "known": 0}


def test_a_hint_that_changes_is_read_anew() -> None:
    messages = [user("Go."), *(m for n in range(5) for m in (says(f"{n}?"), user(f"RESULT> {n} {LINES}")))]
    runtime = ContextRuntime.load({"strategy": {"kind": "mask_tool_results", "keep": 1, "trigger": 0}})
    session = runtime.session()
    for hints in (None, {"results": ["^RESULT>"]}, {"results": ["^OTHER"]}, {"results": ["^RESULT>"]}, {}):
        body = {"model": "gpt-4o", "messages": messages}
        assert session.assemble(body, hints).request == runtime.assemble(body, hints).request


@pytest.mark.parametrize(
    ("given", "told_so"),
    [
        ("^x", "The hint 'results' is a list of texts, not '^x'."),
        ([1], "The hint 'results' is a list of texts, not [1]."),
        (["(?=x)"], "The hint 'results' has '(?=x)', which is no regular expression: "),
    ],
)
def test_faulty_patterns_are_refused_live_and_told_in_a_replay(given: Any, told_so: str) -> None:
    with pytest.raises(RequestError) as refused:
        Hints.of({"results": given})
    assert str(refused.value).startswith(told_so)
    builder = TranscriptBuilder("openai_chat")
    builder.call(builder.body({"model": "gpt-4o", "messages": [user("Go.")]}), hints={"results": given})
    (note,) = CallNotes(played(builder.build()))[0]
    assert note.startswith(told_so)


def test_hints_say_nothing_of_results_unless_told() -> None:
    assert Hints.of({"results": None}) == Hints()
    assert (Hints().results, Hints.of({"results": []}).results) == (None, ())
