import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers import unpack
from core.readers.json_text import DEEPEST, salvage, too_deep
from core.readers.problems import MOST_PROBLEMS, Problem, Report
from core.readers.records import Records
from core.readers.source import Source


def records(content: Path | bytes | str) -> tuple[list[tuple[str, Any]], list[str], Report]:
    report = Report()
    found = [(record.place, record.value) for record in Records(Source(content, report))]
    return found, [str(problem) for problem in report.problems], report


A, B, C = {"a": 1}, {"b": [2, "é"]}, {"c": None}
LINES = "\n".join(json.dumps(value, ensure_ascii=False) for value in (A, B, C))
PRETTY = "\n".join(json.dumps(value, ensure_ascii=False, indent=2) for value in (A, B, C))
THREE_LINES = [("line 1", A), ("line 2", B), ("line 3", C)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (json.dumps(A), [("", A)]),
        (json.dumps(A, indent=1), [("", A)]),
        (LINES, THREE_LINES),
        (LINES + "\n", THREE_LINES),
        (LINES.replace("\n", "\r\n") + "\r\n", THREE_LINES),
        (LINES.replace("\n", "\n\n  \n"), [("line 1", A), ("line 4", B), ("line 7", C)]),
        (LINES + "\n\x00\x00\x00\n", THREE_LINES),
        ("\ufeff" + LINES, THREE_LINES),
        (LINES.encode("utf-8-sig"), THREE_LINES),
        (LINES.encode("utf-16"), THREE_LINES),
        (gzip.compress(LINES.encode(), mtime=0), THREE_LINES),
        (gzip.compress(LINES[:9].encode(), mtime=0) + gzip.compress(LINES[9:].encode(), mtime=0), THREE_LINES),
        (PRETTY, [("document 1", A), ("document 2", B), ("document 3", C)]),
        ("[1, 2]", [("", [1, 2])]),
        ('{"a": "x\u2028y"}\n{}', [("line 1", {"a": "x\u2028y"}), ("line 2", {})]),
        ('{"a": "tab\there"}', [("", {"a": "tab\there"})]),
        ('{"a": 1e400}', [("", {"a": float("inf")})]),
    ],
)
def test_whole_texts(content: bytes | str, expected: list[tuple[str, Any]]) -> None:
    found, problems, report = records(content)
    assert (found, problems, report.counts.read) == (expected, [], len(expected))


@pytest.mark.parametrize(
    ("content", "expected", "problem", "broken"),
    [
        (LINES[:-3], THREE_LINES[:2], "the text, line 3: the last line is cut off. The lines before it were read", 1),
        (LINES[:-3] + "\n", THREE_LINES[:2], "the text, line 3: the last line is cut off", 1),
        (
            f"{json.dumps(A)}\n{{oops}}\n{json.dumps(C)}",
            [THREE_LINES[0], THREE_LINES[2]],
            "the text, line 2: this is not JSON (expecting property name enclosed in double quotes, column 2). "
            "The line was left out.",
            1,
        ),
        (
            f"oops\n{json.dumps(B)}\n{json.dumps(C)}",
            THREE_LINES[1:],
            "the text, line 1: this is not JSON (expecting value, column 1)",
            1,
        ),
        (
            '{"a": 1} x\n{"b": 1}',
            [("line 2", {"b": 1})],
            "line 1: this is not JSON (more text follows the JSON value",
            1,
        ),
        ("[" * 100_000, [], "the text, line 1: this is not JSON (it is nested more than 200 levels deep)", 1),
        ("1" * 5000, [], "the text, line 1: this is not JSON (exceeds the limit", 1),
        ("# aider chat\n\n[link]\n{x}", [], "the text, line 1: this is not JSON (expecting value, column 1)", 1),
        ("", [], "the text: there is nothing in it. JSON or JSON Lines was expected.", 0),
        (b"\x00\x00\n \n", [], "the text: there is nothing in it", 0),
        (" ,\n,, \x00", [], "the text: there is nothing in it", 0),
        (b"PK\x03\x04abc", [], "the text: this is a ZIP archive. A text file (JSON or JSON Lines) was expected", 0),
        (b"SQLite format 3\x00", [], "the text: this is an SQLite database", 0),
        (
            b'{"a": "\xff"}',
            [("", {"a": "\ufffd"})],
            "the text, line 1: byte 8 is not UTF-8. UTF-8 text was expected",
            0,
        ),
        (LINES.encode("utf-16-le"), THREE_LINES, "the text: the text is UTF-16-LE without a byte order mark", 0),
        (LINES.encode("utf-16-be"), THREE_LINES, "the text: the text is UTF-16-BE without a byte order mark", 0),
        (gzip.compress(LINES.encode(), mtime=0)[:-8], THREE_LINES, "the text: the gzip data ends in the middle", 0),
    ],
)
def test_damaged_texts(content: bytes | str, expected: list[tuple[str, Any]], problem: str, broken: int) -> None:
    found, problems, report = records(content)
    assert found == expected
    assert [problem in text for text in problems] == [True], problems
    assert (report.counts.read, report.counts.broken) == (len(expected) + broken, broken)


def test_damage_inside_gzip_keeps_what_stands_before() -> None:
    packed = bytearray(gzip.compress(b"".join(b'{"n": %d}\n' % n for n in range(200_000)), 1, mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    found, problems, _ = records(bytes(packed))
    assert 50_000 < len(found) < 150_000
    assert any("the gzip data is damaged" in text for text in problems)


def test_gzip_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MOST_BYTES", 3 << 20)
    content = gzip.compress(b'{"a": 1}\n' + b" " * (8 << 20), mtime=0)
    found, problems, _ = records(content)
    assert found[0][1] == A
    assert problems == [
        "the text: the gzip data unpacks to more than 3 MB. Only the beginning was read; split the file."
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"messages": [{"role": "user"}, {"role": "assi', {"messages": [{"role": "user"}]}),
        ('{"m": "x", "messages": [{"a": "]}"}, {"b": 1}], "rest": ', {"m": "x", "messages": [{"a": "]}"}, {"b": 1}]}),
        ('[{"a": "\\"{"}, {"b', [{"a": '"{'}]),
        ('{"a": 1', None),
        ("", None),
        ("[" * 1000 + "]" * 10, None),
    ],
)
def test_what_a_cut_document_still_holds(text: str, expected: Any) -> None:
    assert salvage(text) == expected


def test_a_cut_document_is_read_up_to_the_cut_with_its_line() -> None:
    text = json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}, indent=1)
    found, problems, report = records(text[: text.index('"b"')])
    assert found == [("", {"messages": [{"role": "user", "content": "a"}]})]
    assert len(problems) == 1
    assert problems[0].startswith("the text, line 9: the JSON breaks off here (expecting value")
    assert (report.counts.read, report.counts.broken) == (1, 0)


def test_a_broken_document_between_others() -> None:
    found, problems, report = records('{\n"a": 1\n}\n{\n"b": oops\n}\n{\n"c": null\n}')
    assert found == [("document 1", A), ("document 3", C)]
    assert problems[0].startswith("the text, line 5: this is not JSON (expecting value")
    assert (report.counts.read, report.counts.broken) == (3, 1)


def test_a_look_ahead_takes_nothing() -> None:
    ahead = Records(Source(LINES, Report()))
    assert [record.value for record in ahead.peek(2)] == [A, B]
    assert [record.value for record in ahead] == [A, B, C]


@pytest.mark.parametrize(("depth", "deep"), [(DEEPEST - 1, False), (DEEPEST, False), (DEEPEST + 1, True)])
def test_nesting_has_a_limit(depth: int, deep: bool) -> None:
    value: Any = json.loads("[" * depth + "]" * depth)
    assert too_deep(value) is deep


@pytest.mark.parametrize("name", ["missing.json", "", "\x00"])
def test_a_path_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    found, problems, _ = records(tmp_path / name)
    assert found == []
    assert len(problems) == 1
    assert "the file cannot be read" in problems[0]


def test_a_file_is_named_without_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("oops")
    assert records(path)[1][0].startswith("run.jsonl, line 1: this is not JSON")


def test_problems_are_listed_up_to_a_limit() -> None:
    report = Report("f")
    for number in range(MOST_PROBLEMS + 5):
        report.add("x", place=f"line {number}")
    report.close()
    assert len(report.problems) == MOST_PROBLEMS + 1
    assert str(report.problems[-1]).startswith("f: 5 more problems are not listed")


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (
            Problem("f.json", "line 3, message 2", "it is null", "An object was expected."),
            "f.json, line 3, message 2: it is null. An object was expected.",
        ),
        (Problem("f.json", "", "it is empty"), "f.json: it is empty."),
    ],
)
def test_a_problem_is_a_sentence(problem: Problem, sentence: str) -> None:
    assert str(problem) == sentence


@given(
    st.binary(max_size=60), st.sampled_from([b"", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b'{"a":1}\n', b"[{"])
)
def test_no_bytes_raise_and_counts_add_up(tail: bytes, head: bytes) -> None:
    found, problems, report = records(head + tail)
    assert report.counts.read == len(found) + report.counts.broken
    assert found or problems
