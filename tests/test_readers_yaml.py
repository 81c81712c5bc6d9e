"""YAML recordings as JSON values, and recorded bodies as text."""

import base64
import gzip
import json
import zlib
from typing import Any

import pytest

from core.readers.packed import as_text, body_text, polly_text
from core.readers.problems import Report
from core.readers.records import Records
from core.readers.source import Source
from core.readers.yaml_text import NotYaml, is_yaml, read_yaml

PACKED = gzip.compress(b'{"a": 1}', mtime=0)


@pytest.mark.parametrize(
    "text",
    [
        "log:\n  version: 1\n",
        "interactions:\n- request: {}\n",
        "version: 1\ninteractions: []",
        "# a comment\n\n---\nhttp_interactions:\n",
        "--- \nversion: 2\n",
        "%YAML 1.2\n---\nlog: {}\n",
    ],
)
def test_a_recording_is_told_by_its_first_key(text: str) -> None:
    assert is_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"log": 1}',
        "# aider chat started at",
        "catalog:\n",
        "log",
        "hello: world\nlog: 1\n",
        "log:x",
        "- log: 1",
    ],
)
def test_another_text_is_no_recording(text: str) -> None:
    assert not is_yaml(text)


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("2024-06-25T02:41:53.099Z", "2024-06-25T02:41:53.099Z"),
        ("2024-06-25", "2024-06-25"),
        ("1:30", "1:30"),
        ("yes", "yes"),
        ("no", "no"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("012", 12),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
        ("", None),
        ("null", None),
        ("'12'", "12"),
        ("!!binary aGk=", "hi"),
        ("!!binary " + base64.b64encode(PACKED).decode(), '{"a": 1}'),
        ("!!binary '*'", ""),
        ("!!python/object/apply:os.getcwd []", []),
        ("!own {a: 1}", {"a": 1}),
        ("{<<: {a: 1}, b: 2}", {"<<": {"a": 1}, "b": 2}),
        ("{1: a, null: b, [c]: d}", {"1": "a", "null": "b", '["c"]': "d"}),
        ("|\n  a\n\n  b\n", "a\n\nb\n"),
        ('"\\u00e9 \\U0001F600"', "é 😀"),
    ],
)
def test_values_are_those_of_json(plain: str, value: Any) -> None:
    assert read_yaml(f"log: {plain}").value == {"log": value}
    json.dumps(read_yaml(f"log: {plain}").value)


def test_an_alias_stands_for_what_it_names() -> None:
    assert read_yaml("log: &a [1, 2]\nother: *a").value == {"log": [1, 2], "other": [1, 2]}


def doubling(levels: int) -> str:
    lines = [f" a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10 if i else ['x'] * 10)}]" for i in range(levels)]
    return "\n".join(["log:", *lines])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("log: &a [*a]", "its aliases unfold to more than 20 times the file"),
        (doubling(12), "its aliases unfold to more than 20 times the file"),
        ("log: [1", "did not find expected ',' or ']'"),
        ("log: " + "[" * 5000, "exceeded maximum nesting depth"),
        ("log: " + "9" * 5000, "Exceeds the limit"),
        ("log: *nothing", "found undefined alias"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(NotYaml, match=reason.replace("[", r"\[")):
        read_yaml(text)


def test_a_broken_entry_does_not_cost_the_others() -> None:
    text = "version: 1\ninteractions:\n- a: 1\n- b: [\n- c: 3\n"
    document = read_yaml(text)
    assert document.value == {"version": 1, "interactions": [{"a": 1}, {"c": 3}]}
    assert document.broken == [(5, "did not find expected node content")]


def test_entries_are_read_one_by_one_in_time_that_grows_with_the_file() -> None:
    document = read_yaml("log:\n  entries:\n" + "  - a: 1\n" * 3000 + "  - b: [\n")
    assert len(document.value["log"]["entries"]) == 3000
    assert len(document.broken) == 1


def test_control_characters_and_lone_surrogates_are_replaced() -> None:
    assert read_yaml("log: a\x00b\ud83dc").value == {"log": "a\ufffdb\ufffdc"}


def records(text: str) -> tuple[list[Any], Report]:
    report = Report()
    return [record.value for record in Records(Source(text, report))], report


def test_a_yaml_text_is_one_record_with_its_blank_lines() -> None:
    found, report = records("\n# made by hand\n\nlog: |\n  a\n\n\n  b\n")
    assert found == [{"log": "a\n\n\nb\n"}]
    assert (report.counts.read, report.counts.broken, report.problems) == (1, 0, [])


def test_broken_entries_are_counted_with_their_lines() -> None:
    found, report = records("log:\n  entries:\n  - a: 1\n  - b: [\n  - c: 3\n")
    assert found == [{"log": {"entries": [{"a": 1}, {"c": 3}]}}]
    assert (report.counts.read, report.counts.broken) == (2, 1)
    assert str(report.problems[0]).startswith("the text, line 5: the entry is no YAML (")


def test_a_yaml_text_that_cannot_be_read_is_one_broken_record() -> None:
    found, report = records("log: [1")
    assert (found, report.counts.read, report.counts.broken) == ([], 1, 1)


def test_a_yaml_text_that_is_nested_too_deep_is_refused() -> None:
    found, report = records("log: " + "[" * 300 + "]" * 300)
    assert (found, report.counts.broken) == ([], 1)
    assert "nested more than 200 levels" in str(report.problems[0])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (PACKED, '{"a": 1}'),
        (zlib.compress(b'{"a": 1}'), '{"a": 1}'),
        (PACKED[:-8], '{"a": 1}'),
        (b"\x1f\x8b damaged", "\x1f\ufffd damaged"),
        ("é".encode() + b"\xff", "é\ufffd"),
    ],
)
def test_packed_bodies_are_unpacked(data: bytes, text: str) -> None:
    assert as_text(data) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a", "a"),
        (None, None),
        ({"string": "a"}, "a"),
        ({"encoding": "utf-8", "string": "a"}, "a"),
        ({"encoding": "base64", "string": "aGk="}, "hi"),
        ({"base64_string": "aGk="}, "hi"),
        ({"data": base64.b64encode(PACKED).decode()}, '{"a": 1}'),
        ({"data": "not base64!"}, "not base64!"),
        ({"encoding": "utf-8", "string": None}, None),
        ({"model": "x", "messages": []}, {"model": "x", "messages": []}),
        ([PACKED.hex()[:20], PACKED.hex()[20:]], '{"a": 1}'),
        (["aGk=", "aGk="], "hihi"),
        (["not", "coded!"], "notcoded!"),
        ([{"a": 1}], [{"a": 1}]),
    ],
)
def test_bodies_are_read_however_they_were_kept(body: Any, text: Any) -> None:
    assert body_text(body) == text


@pytest.mark.parametrize(
    ("text", "coded", "expected"),
    [
        ("a", False, "a"),
        ("aGk=", True, "hi"),
        ("aGk=", False, "aGk="),
        (json.dumps([base64.b64encode(PACKED).decode()]), True, '{"a": 1}'),
        (json.dumps([PACKED.hex()]), True, '{"a": 1}'),
        ('["a"]', False, '["a"]'),
    ],
)
def test_bodies_of_a_har(text: str, coded: bool, expected: str) -> None:
    assert polly_text(text, coded) == expected
