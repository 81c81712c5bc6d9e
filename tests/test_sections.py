from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sections import NAME_LENGTH, sections
from core.tokens import Chars4, CjkEstimate, TiktokenCounter

PROMPT = """You are careful.
Answer in English.

# Rules
1. Be brief.
2. Cite what you read.

## 语气
保持礼貌。
<examples>
Q: a
A: b
</examples>
After the examples.
**Output:**
JSON only
10、第十条
"""


def test_a_prompt_in_sections() -> None:
    found = sections(PROMPT)
    assert [section.name for section in found] == [
        "You are careful.",
        "Rules",
        "1. Be brief.",
        "2. Cite what you read.",
        "语气",
        "examples",
        "After the examples.",
        "Output:",
        "10. 第十条",
    ]
    assert "".join(section.text for section in found) == PROMPT
    assert [section.name for section in found if section.is_examples] == ["examples"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("one line", ["one line"]),
        ("\n\n  indented\n", ["indented"]),
        (" \n ", ["(blank)"]),
        ("# A\n# B\n", ["A", "B"]),
        ("#hashtag\n####### seven", ["#hashtag"]),
        ("# Closed #\n", ["Closed"]),
        ("intro\n# A", ["intro", "A"]),
        ("intro\r\n# A\r\ntext", ["intro", "A"]),
        ("  # indented is text\n# A", ["# indented is text", "A"]),
        ("<a>\nx\n</a>\n<b>\ny\n</b>\n", ["a", "b"]),
        ("<a>x</a>\nthen", ["a", "then"]),
        ("```\n# a comment\n1. no rule\n```\n# A\n", ["```", "A"]),
        ("~~~\n# no\n", ["~~~"]),
        ("2024) no rule\n3) rule", ["2024) no rule", "3. rule"]),
        ("**Bold**: text\n__Title__\n", ["**Bold**: text", "Title"]),
        ("# " + "long " * 30, ["long long long long long long long long long lo…"[:NAME_LENGTH]]),
        ("a\n/b\n# C", ["a", "C"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    found = sections(text)
    assert [section.name for section in found] == names
    assert "".join(section.text for section in found) == text


@pytest.mark.parametrize(
    ("name", "is_examples"),
    [
        ("# Examples", True),
        ("<example>", True),
        ("<good_examples>", True),
        ("# Few-shot", True),
        ("# 示例", True),
        ("**Examples:**", True),
        ("# Exampled", False),
        ("1. Follow the examples.", False),
        ("The examples below", False),
        ("# Rules", False),
    ],
)
def test_which_sections_are_examples(name: str, is_examples: bool) -> None:
    assert sections(f"{name}\ntext")[0].is_examples == is_examples


LINES = st.sampled_from(
    [
        "# A",
        "## 中文",
        "1. one",
        "2、二",
        "<rules>",
        "</rules>",
        "```",
        "text",
        "  indented",
        "",
        "/path",
        "**b**",
        "\t",
        "a" * 9,
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\r", " \n", "\x0b", "\u2028"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=14), st.sampled_from(["o200k_base", "cl100k_base"]))
def test_sections_add_up_to_the_count_of_the_text(lines: list[tuple[str, str]], encoding: str) -> None:
    text = "".join(line + end for line, end in lines)
    parts = [section.text for section in sections(text)]
    assert "".join(parts) == text
    assert all(parts)
    exact = TiktokenCounter(encoding)
    assert [exact.count(part) for part in parts] == exact.pieces(parts)
    for counter in (exact, CjkEstimate(), Chars4()):
        assert sum(counter.pieces(parts)) == (counter.count(text) if text else 0)


@given(st.text(st.sampled_from("#<>/ab1.*`~ \n\r\t、中😀-"), max_size=60))
def test_any_text(text: str) -> None:
    parts = [section.text for section in sections(text)]
    assert "".join(parts) == text
    counter = TiktokenCounter("o200k_base")
    assert sum(counter.count(part) for part in parts) == counter.count(text)


@pytest.mark.parametrize("line", ["# " + " " * 20_000 + "x", "#" * 20_000, "<" * 20_000, "**" * 10_000, "</" * 10_000])
def test_no_line_takes_longer_than_its_length(line: str) -> None:
    assert "".join(section.text for section in sections(f"a\n{line}\nb")) == f"a\n{line}\nb"


def test_tags_in_any_script_divide() -> None:
    named = [section.name for section in sections("先说规则。\n<示例>\n问：在吗\n</示例>\n其余照旧。\n")]
    assert named == ["先说规则。", "示例", "其余照旧。"]
