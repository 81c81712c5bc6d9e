"""Counted nouns: how they are written, that all sentences are, and what is said where there is one of a thing."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.advice import advised
from core.findings import findings
from core.replay import replay
from core.wording import agreeing, counted, counted_or_no, filled, plural
from storage import Library
from storage.importing import import_path
from tests.pages_app import Open, page, sample_database, shown, store
from tests.runs import result, run, says, user, uses

__all__ = ["page", "sample_database", "store"]

ROOT = Path(__file__).parents[1]
THINGS = (
    "token call message file transcript turn step result record span character line place byte request row item problem"
    " summary section tool rule time prompt reference list id unit text check node node model configuration finding"
    " difference simulation instance entry retrieval string part branch session minute second document conversation"
    " response reply image definition violation refetch break fact chunk block example error warning notice key field"
)
PLURALS = "|".join(sorted({plural(thing) for thing in THINGS.split()}))
AFTER_A_NUMBER = re.compile(rf"^ (?:(?:more|other|old|new|recorded|distinct|exact|tool|golden) )*(?:{PLURALS})\b")
ONE_OF_MANY = re.compile(rf"(?<![\w.,:/-])1 (?:(?:more|other|old|new|recorded|distinct|exact|tool) )*(?:{PLURALS})\b")

IN_PROMPTS = {
    "core/excerpt.py", "core/shrinkers/project_tool_results.py", "core/strategies/retrieval.py", "core/summaries.py",
}  # fmt: skip
"""Texts of these stand in prompts; their rules give their form."""


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "token", "0 tokens"),
        (1, "token", "1 token"),
        (2, "summary", "2 summaries"),
        (1, "summary", "1 summary"),
        (1200, "more call", "1,200 more calls"),
        (3, "reply", "3 replies"),
        (2, "key", "2 keys"),
        (2, "branch", "2 branches"),
        (-1, "token", "-1 token"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said


@pytest.mark.parametrize(
    ("number", "said"), [(0, "no call stands"), (1, "1 call stands"), (2, "2 calls stand"), (1200, "1,200 calls stand")]
)
def test_none_is_said_in_words(number: int, said: str) -> None:
    assert counted_or_no(number, "call", "stands", "stand") == said
    assert counted_or_no(0, "call") == "no call"


def test_a_verb_agrees() -> None:
    assert [agreeing(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]


def uncounted(path: Path) -> Iterator[str]:
    """Yield where a sentence of a file has a number before a fixed plural. A constant in capitals is never one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                    name = ast.unparse(value.value)
                    plural_after = AFTER_A_NUMBER.match(str(after.value))
                    if (
                        plural_after
                        and not name.startswith("agreeing(")
                        and not name.rpartition(".")[2].replace(" >> 20", "").isupper()
                    ):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}: {{{name}}}{plural_after[0]}"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("[{id}, {one} lines, {many} tokens]", "[m1.0, 1 line, 1200 tokens]"),
        ("{one} messages", "1 message"),
        ("{many} messages of {one} lines", "1200 messages of 1 line"),
        ("{one} linesman, {one}  lines, {one} liners", "1 linesman, 1  lines, 1 liners"),
        ("{unknown} lines {one}", "{unknown} lines 1"),
        ("nothing in braces: {}", "nothing in braces: {}"),
    ],
)
def test_a_noun_behind_a_field_agrees_with_it(template: str, said: str) -> None:
    assert filled(template, {"id": "m1.0", "one": "1", "many": "1200"}) == said


@pytest.mark.parametrize("folder", ["core", "storage", "pages"])
def test_every_sentence_counts_its_nouns(folder: str) -> None:
    files = [path for path in sorted((ROOT / folder).rglob("*.py")) if str(path.relative_to(ROOT)) not in IN_PROMPTS]
    assert [where for path in files for where in uncounted(path)] == []


def by_hand(path: Path) -> Iterator[str]:
    """Yield where a file chooses between the endings of one and of many."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.IfExp):
            chosen = [end.value for end in (node.body, node.orelse) if isinstance(end, ast.Constant)]
            if chosen in (["", "s"], ["s", ""], ["", "es"], ["es", ""], ["y", "ies"], ["ies", "y"]):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("folder", ["core", "storage", "pages"])
def test_no_plural_is_made_by_hand(folder: str) -> None:
    assert [where for path in sorted((ROOT / folder).rglob("*.py")) for where in by_hand(path)] == []


def one_of_many(text: str) -> list[str]:
    return [found[0] for found in ONE_OF_MANY.finditer(text)]


def test_the_look_for_wrong_plurals_finds_them() -> None:
    assert one_of_many("1 tokens, 21 tokens, 1.1 tokens, sent in 1 calls = 1 more calls") == [
        "1 tokens", "1 calls", "1 more calls",
    ]  # fmt: skip
    assert one_of_many("1 token of 2 calls, call 1: calls 1, 1,001 calls") == []


STRATEGIES: list[dict[str, Any]] = [
    {"kind": "full_history"},
    {"kind": "keep_last", "keep_messages": 1},
    {"kind": "summarize_and_keep", "keep_turns": 1, "min_turns": 0, "min_steps": 0},
    {"kind": "mask_tool_results", "keep": 1, "trigger": 0},
    {"kind": "span_triage"},
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy["kind"])
@pytest.mark.parametrize("limit", [0, 1, 9, None])
def test_findings_speak_of_one_call_and_one_token(strategy: dict[str, Any], limit: int | None) -> None:
    said = [user("a"), says("b"), user("c"), uses("x", "read", path="a"), result("x", "z " * 3000), says("e")]
    system = "- Always answer in whole sentences.\n- Always answer in whole sentences.\n"
    sentences = []
    for number in range(1, len(said) + 1):
        made = replay(run(said[:number], system=system), {"budget": {"soft_limit": limit}, "strategy": strategy})
        sentences += [finding.sentence for finding in findings(made)]
    assert sentences and one_of_many("\n".join(sentences)) == []


@pytest.mark.parametrize("limit", [0, 1, 5, 100, 4000])
def test_advice_speaks_of_one_call_and_one_token(limit: int) -> None:
    said = [user("a"), says("b"), user("c"), uses("x", "read", path="a"), result("x", "z " * 3000), says("e")]
    made = replay(run(said), {"budget": {"soft_limit": limit}, "strategy": {"kind": "full_history"}})
    for call in range(len(made.transcript.calls)):
        found = advised(made, call)
        assert found is not None
        texts = [found.verdict, *(check.why for check in found.checks), *(one.evidence for one in found.symptoms)]
        assert one_of_many("\n".join(texts)) == []


ONE = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}


@pytest.mark.parametrize("name", ["library", "inspect_transcript", "compare", "advise", "configurations"])
def test_pages_speak_of_one_call_and_one_token(name: str, page: Open, store: Library, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(ONE), encoding="utf-8")
    [transcript] = import_path(store, path).ids
    address = {} if name in ("library", "configurations") else {"transcript": str(transcript), "call": "1"}
    app = page(f"{name}.py", **address, **({"budget": "1"} if name == "compare" else {}))
    said = shown(app) + "\n".join(f"{card.value} {card.delta}" for card in app.metric)
    assert one_of_many(said) == []
    if name in ("inspect_transcript", "compare"):
        assert "1 call" in said
