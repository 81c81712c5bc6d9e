"""Where rules meet on a transcript, held against what the engine itself read into each span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import load_config
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.rule_conflicts import described, rule_report
from core.rules import Match
from core.spans import Span
from core.transcript import Transcript

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("search_docs", "read")]


def step(number: int, tool: str) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"},
    ]


def conversation(turns: int) -> list[dict[str, Any]]:
    """A turn is a question, a call with its result, and an answer."""
    found: list[dict[str, Any]] = []
    for turn in range(turns):
        found.append({"role": "user", "content": f"question {turn}"})
        found += step(turn, "read" if turn % 2 else "search_docs")
        found.append({"role": "assistant", "content": f"answer {turn}"})
    return found


def recorded(*bodies: list[dict[str, Any]]) -> Transcript:
    builder = TranscriptBuilder("openai_chat")
    for messages in bodies:
        system = {"role": "system", "content": "# Rules\nBe brief.\n"}
        builder.call(builder.body({"model": "gpt-4o", "messages": [system, *messages], "tools": TOOLS}))
    return builder.build()


def growing(turns: int) -> Transcript:
    return recorded(*(conversation(turns)[: 4 * turn + 1] for turn in range(turns)))


def played(transcript: Transcript, *rules: dict[str, Any], kind: str = "span_triage") -> Replay:
    return replay(transcript, {"rules": list(rules), "strategy": {"kind": kind}})


RESULTS = {"match": {"kind": "tool_result"}, "evict": "pinned"}
SEARCHES = {"match": {"kind": "tool_result", "tool": "search_*"}, "evict": "recoverable"}


def test_a_conflict_says_who_wins_where_and_why() -> None:
    report = rule_report(played(growing(5), RESULTS, {"match": {"kind": "user"}, "required": True}, SEARCHES))
    assert report.sentences == (
        "Rule 3 (tool_result, tool search_*) and rule 1 (tool_result) both set evict on 2 spans, for example m2.0"
        " (search_docs) in call 2: rule 3 wins with recoverable over pinned, because it stands later.",
    )
    (conflict,) = report.conflicts
    assert (conflict.setting, conflict.loser, conflict.winner, conflict.spans) == ("evict", 1, 3, 2)
    assert (conflict.lost, conflict.won, conflict.example.call) == ("pinned", "recoverable", 1)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ((), []),
        ((RESULTS,), []),
        ((RESULTS, RESULTS), []),
        ((SEARCHES, RESULTS), [("evict", 1, 2, 2)]),
        ((RESULTS, SEARCHES, RESULTS), [("evict", 2, 3, 2)]),
        ((RESULTS, SEARCHES, {"evict": "reconstructible"}), [("evict", 1, 3, 4), ("evict", 2, 3, 2)]),
        (({"match": {"role": "user"}, "priority": 1}, {"match": {"role": "assistant"}, "priority": 2}), []),
        (({"required": True, "priority": 1}, {"match": {"kind": "user"}, "required": False}), [("required", 1, 2, 5)]),
        (({"min_tokens": 3}, {"match": {"section": "Rules"}, "min_tokens": 4}), [("min_tokens", 1, 2, 1)]),
        (({"group": "a"}, {"match": {"tool": "read"}, "group": "b"}), [("group", 1, 2, 5)]),
        (({"keywords": ["x"]}, {"match": {"kind": "tool_definition"}, "keywords": []}), [("keywords", 1, 2, 2)]),
        # Newest turns and older ones never meet; these three do, on what is one or two turns old.
        (({"match": {"max_age": 1}, "priority": 1}, {"match": {"min_age": 2}, "priority": 2}), []),
        (({"match": {"kind": "user", "max_age": 2}, "priority": 1}, {"match": {"min_age": 2}, "priority": 2}),
         [("priority", 1, 2, 3)]),
        (({"match": {"min_age": 9}, "priority": 1}, {"priority": 2}), []),
        # A result first stands in a prompt when the next question is asked: it is never in the newest turn.
        (({"match": {"kind": "tool_result", "max_age": 0}, "priority": 1}, {"priority": 2}), []),
        (({"match": {"kind": "tool_result", "max_age": 1}, "priority": 1}, {"priority": 2}), [("priority", 1, 2, 4)]),
    ],
)  # fmt: skip
def test_which_rules_meet(rules: tuple[dict[str, Any], ...], found: list[tuple[str, int, int, int]]) -> None:
    conflicts = rule_report(played(growing(5), *rules)).conflicts
    assert [(made.setting, made.loser, made.winner, made.spans) for made in conflicts] == found


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"match": {"kind": "tool_result", "tool": "serach_*"}}, "Rule 1 (tool_result, tool serach_*) matches no span"),
        ({"match": {"section": "Rulse"}}, "Rule 1 (section Rulse) matches no span of this transcript."),
        (
            {"match": {"kind": "tool_definition", "min_age": 0}},
            "Rule 1 (tool_definition, at least 0 turns old) matches",
        ),
        ({"match": {"min_age": 5}}, "Rule 1 (at least 5 turns old) matches no span of this transcript."),
        ({"match": {"kind": "user", "min_age": 4}}, ""),
        ({"match": {"kind": "tool_definition", "tool": "read"}}, ""),
        ({"match": {"pattern": "answer 3"}}, ""),
    ],
)
def test_a_rule_that_matches_nothing_is_told(rule: dict[str, Any], said: str) -> None:
    assert "".join(rule_report(played(growing(5), {**rule, "required": True})).unmatched).startswith(said)


def test_an_age_counts_from_the_calls_that_were_made() -> None:
    """One body of five turns is one call: its first question is four turns old and was never younger."""
    newest = {"match": {"kind": "user", "pattern": "question 0", "max_age": 3}, "priority": 1}
    assert rule_report(played(recorded(conversation(5)[:17]), newest)).unmatched
    assert not rule_report(played(growing(5), newest)).unmatched


def test_a_span_counts_once_whatever_the_number_of_calls_and_branches() -> None:
    branch = [*conversation(3), {"role": "user", "content": "another way"}]
    transcript = recorded(*(conversation(4)[: 4 * turn + 1] for turn in range(4)), branch, conversation(4)[:13])
    (conflict,) = rule_report(played(transcript, {"priority": 1}, {"match": {"kind": "user"}, "priority": 2})).conflicts
    assert conflict.spans == 5


@pytest.mark.parametrize(
    ("kind", "rule", "said"),
    [
        ("keep_last", {"priority": 1}, "Rule 1 sets priority, which only span_triage looks at; keep_last does not."),
        ("span_triage", {"priority": 1}, ""),
        ("span_triage", {"match": {"kind": "tool_definition"}, "group": "g"}, "which only tiered_injection looks at"),
        ("tiered_injection", {"match": {"kind": "tool_definition"}, "group": "g", "keywords": ["x"]}, ""),
        ("keep_last", {"evict": "reconstructible"}, "evict to reconstructible, which keep_last takes for recoverable"),
        ("keep_last", {"evict": "pinned"}, ""),
        (
            "keep_last",
            {"min_tokens": 9},
            "sets min_tokens, which caps and shrinkers look at; keep_last does not",
        ),
        ("required_reserve", {"min_tokens": 9}, "because it sends a message whole or not at all."),
        ("keep_last", {"min_tokens": 0}, ""),
        ("summarize_and_keep", {"min_tokens": 9}, ""),
        ("tiered_injection", {"min_tokens": 9}, ""),
        ("tiered_injection", {"tier": "core"}, "keeps nothing in place"),
        ("tiered_injection", {"tier": "contextual"}, ""),
    ],
)
def test_what_a_strategy_does_not_look_at_is_told(kind: str, rule: dict[str, Any], said: str) -> None:
    unused = rule_report(played(growing(3), rule, kind=kind)).unused
    assert bool(unused) == bool(said)
    assert said in "".join(unused)


def test_rules_with_the_same_unused_setting_share_a_sentence() -> None:
    rules = ({"priority": 1}, {"match": {"kind": "user"}, "required": True}, {"priority": 1}, {"priority": 1})
    unused = rule_report(played(growing(3), *rules, kind="keep_last")).unused
    assert unused == ("Rules 1, 3 and 4 set priority, which only span_triage looks at; keep_last does not.",)


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (Match(), "everything"),
        (Match(kind="user", role="user"), "user, role user"),
        (Match(pattern="^x", min_age=1, max_age=2), "pattern ^x, at least 1 turn old, at most 2 turns old"),
    ],
)
def test_a_match_in_words(match: Match, words: str) -> None:
    assert described(match) == words


VALUES = st.sampled_from([{"priority": 1}, {"priority": 2}, {"required": True}, {"required": False}])


def in_order(match: dict[str, Any]) -> bool:
    return bool(match.get("min_age", 0) <= match.get("max_age", 9))


MATCHES = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["user", "tool_result", "tool_call", "tool_definition", "instructions"]),
        "tool": st.sampled_from(["*", "read", "search_*"]),
        "role": st.sampled_from(["user", "assistant", "system"]),
        "min_age": st.integers(0, 3),
        "max_age": st.integers(0, 4),
    },
).filter(in_order)


def spans_with_ages(made: Replay, call: int) -> Iterator[tuple[Span, int | None]]:
    """The spans of a call as the engine read them with the rules, and how many turns were opened since."""
    plan = made.plan(call)
    yield from ((span, None) for span in plan.fixed.spans)
    units = plan.log.units[: plan.count]
    age = sum(unit.opens_turn for unit in units)
    for unit in units:
        age -= unit.opens_turn
        yield from ((span, age) for span in unit.spans)


@given(st.lists(st.builds(lambda match, value: {"match": match, **value}, MATCHES, VALUES), min_size=1, max_size=4))
def test_winners_are_what_the_engine_read(said: list[dict[str, Any]]) -> None:
    """For every span of every call: the last rule that means it and sets a thing is the engine's treatment of it."""
    made = played(growing(5), *said)
    rules = [rule.rule() for rule in load_config({"rules": said, "strategy": {"kind": "keep_last"}}).rules]
    expected: dict[tuple[str, int, int], set[str]] = {}
    matched = set()
    for call in range(5):
        for span, age in spans_with_ages(made, call):
            section = span.name if span.id.startswith("s") else ""
            key = ((span.id, span.call_id), span.kind, span.role, span.tool, section, span.text)
            meant = [at for at, rule in enumerate(rules, 1) if rule.match.is_of_age(age) and rule.match.fits(*key)]
            matched.update(meant)
            for setting in ("priority", "required"):
                setters = [at for at in meant if setting in said[at - 1]]
                assert getattr(span.rule, setting) == (said[setters[-1] - 1][setting] if setters else None)
                for at in setters[:-1]:
                    if said[at - 1][setting] != said[setters[-1] - 1][setting]:
                        expected.setdefault((setting, at, setters[-1]), set()).add(span.id)
    report = rule_report(made)
    found = {(one.setting, one.loser, one.winner): one.spans for one in report.conflicts}
    assert found == {key: len(ids) for key, ids in expected.items()}
    assert len(report.unmatched) == len(rules) - len(matched)
