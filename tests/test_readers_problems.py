import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import PromptInspectorError
from core.readers import Report, format_names, growing, read, read_stream
from tests.chats import SYSTEM, body, calling, lines, only, result, said, user


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            body(user("a"), "text", None, said("b")),
            ["message 2: the message is a text", "message 3: the message is null"],
        ),
        (body({"role": "critic", "content": "x"}, user("a")), ["message 1: the role 'critic' is not known"]),
        (
            body(SYSTEM, 7, {"role": "critic", "content": "x"}),
            ["message 2: the message is a number", "message 3: the role 'critic' is not known"],
        ),
        (body({"role": "user", "content": None}), ["message 1: the message has no content"]),
        (body(user("a"), result("9")), ["message 2: the tool result answers '9', and no call before it has this id"]),
        (
            body(SYSTEM, user("a"), calling("1"), result("1"), calling("1"), result("1")),
            ["message 5: the tool call id '1' is used again"],
        ),
        (body(), ["the request holds no messages"]),
        ({"request": body(user("a")), "response": {"x": 1}}, ["the response is of no known shape"]),
    ],
)
def test_messages_that_no_provider_takes(content: Any, expected: list[str]) -> None:
    found = read(json.dumps(content))
    sentences = [str(problem) for problem in found.problems]
    assert all(
        f"the text, {text}" in sentence or f"the text: {text}" in sentence
        for text, sentence in zip(expected, sentences, strict=False)
    )
    assert len(sentences) >= len(expected)
    assert len(found.transcripts) == (1 if content["messages"] else 0) if "messages" in content else 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (float("nan"), "content is NaN, which JSON does not have."),
        (float("-inf"), "content is -Infinity, which JSON does not have."),
        ([{"type": "text", "text": float("inf")}], "content[0].text is Infinity, which JSON does not have."),
        (
            [{"type": "x", "a": [1.5, float("nan")], "b": float("nan"), "c": {"d": float("inf")}}],
            "content[0].a[1] is NaN and content[0].b is NaN, which JSON does not have, and there are more such values.",
        ),
    ],
)
def test_numbers_that_json_does_not_have_are_kept_and_named(content: Any, sentence: str) -> None:
    message = {"role": "user", "content": content}
    found = read(lines([body(user("a")), body(user("a"), said("b"), message)]))
    (problem,) = found.problems
    kept = "It was kept as it is, but no provider takes it: a number, a text or null belongs there."
    assert str(problem) == f"the text, line 2, message 3: {sentence} {kept}"
    assert json.dumps(found.transcripts[0].messages[2]) == json.dumps(message)


def test_finite_numbers_and_texts_about_nan_are_no_problem() -> None:
    parts = [{"type": "text", "text": "NaN and Infinity", "weight": 1.5, "n": None, "yes": True}]
    assert read(json.dumps(body({"role": "user", "content": parts}))).problems == []


def test_a_line_of_fifty_megabytes_is_read() -> None:
    found = read(json.dumps(body(SYSTEM, user("long " * 10_000_000))))
    assert (len(found.transcripts[0].messages), found.problems) == (1, [])


def test_places_name_line_and_message() -> None:
    found = read(lines([body(user("a")), body(user("a"), calling("1"), result("2"))]))
    assert str(found.problems[0]).startswith("the text, line 2, message 3: the tool result answers '2'")


def test_old_problems_are_not_told_again_for_each_request() -> None:
    bad = [user("a"), result("9"), said("b")]
    assert len(read(lines([body(*bad, user("c")), body(*bad, user("c"), said("d"), user("e"))])).problems) == 1


def test_legacy_functions_without_ids() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    transcript = only(body(user("a"), call, {"role": "function", "name": "f", "content": "r"}))
    assert len(transcript.calls) == 2


def test_lines_of_another_kind_are_left_out_and_counted() -> None:
    found = read(lines([body(user("a")), {"x": 1}, body(user("b")), 7]) + "\n{oops")
    assert [transcript.title for transcript in found.transcripts] == ["a", "b"]
    assert (found.counts.read, found.counts.used, found.counts.ignored, found.counts.broken) == (5, 2, 0, 3)
    assert [problem.place for problem in found.problems] == ["line 2", "line 4", "line 5"]


@pytest.mark.parametrize(
    "content",
    ["", "  \n", "hello", "{}", "[]", "null", "42", '{"a": 1}', b"\x89PNG\r\n", b"\x00" * 100, '{"messages": []}'],
)
def test_without_transcripts_there_is_a_problem(content: Any) -> None:
    found = read(content)
    assert (found.transcripts, len(found.problems)) == ([], 1)
    assert str(found.problems[0]).endswith(".")


def test_an_unknown_file_is_told_what_was_expected() -> None:
    problem = str(read('{"colour": "red", "sizes": []}').problems[0])
    assert problem.startswith("the text: the format was not recognised (the first record has the keys colour, sizes).")
    assert problem.endswith("Choose one by its name if you know it, or give request bodies or messages as JSON.")


def test_the_format_can_be_named() -> None:
    plain = [user("a"), said("b")]
    assert only(plain).dialect == "openai_chat"
    assert only(plain, format="anthropic").dialect == "anthropic"
    found = read(json.dumps(plain), format="grok")
    assert [str(problem) for problem in found.problems] == [
        f"the text: there is no format 'grok'. Use one of {', '.join(format_names())}."
    ]


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    found = read(tmp_path / "none.json")
    assert str(found.problems[0]).startswith("none.json: the file cannot be read (no such file or directory)")


def test_the_source_is_the_files_name(tmp_path: Path) -> None:
    path = tmp_path / "support.request.json"
    path.write_text(json.dumps(body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]})))
    transcript = read(path).transcripts[0]
    assert (transcript.source, transcript.title) == ("support.request.json", "support")


@pytest.mark.parametrize(
    ("text", "title"),
    [("a\n\n b\x00c", "a b c"), ("x" * 200, "x" * 79 + "…"), ("\ud83d hi", "hi"), ("帮我检查", "帮我检查")],
)
def test_titles(text: str, title: str) -> None:
    [transcript] = read(json.dumps(body(SYSTEM, user(text)))).transcripts
    assert transcript.title == title


def test_a_stream_reports_beside_its_transcripts() -> None:
    report = Report()
    stream = read_stream(lines([body(user("a")), {"x": 1}]), report=report)
    assert [transcript.title for transcript in stream] == ["a"]
    assert (report.format, report.counts.read, len(report.problems)) == ("openai_chat", 2, 1)


def test_a_reader_that_fails_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: Any, request: Any) -> None:
        raise PromptInspectorError("no")

    monkeypatch.setattr(growing.Growing, "add", failing)
    problem = str(read(json.dumps(body(user("a")))).problems[0])
    assert problem.startswith("the text: the reader for openai_chat failed (PromptInspectorError: no).")
