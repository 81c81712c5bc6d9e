"""Halves of surrogate pairs are kept and told of, wherever in a record of whatever layout they stand."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers import large_documents, read
from core.readers.half_pairs import HalvesInBytes

KEPT = "It was kept as it is, and is shown as a question mark."

LARGE = "large.json: a text holds half a surrogate pair, which is no character."


def body(content: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", **more, "messages": [{"role": "user", "content": content}]}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (body("lone \ud800"), "messages[0].content holds \\ud800, half a surrogate pair and no character"),
        (body([{"type": "text", "text": "\udc00"}]), "messages[0].content[0].text holds \\udc00, half a surrogate"),
        (body("hi", tools=[{"name": "\udfff"}]), "tools[0].name holds \\udfff, half"),
        (
            {"request": body("hi"), "response": {"choices": [{"message": {"role": "assistant", "content": "\ud83d"}}]}},
            "response.choices[0].message.content holds \\ud83d, half",
        ),
        (body(json.dumps({"a": "\ud83d"})), "messages[0].content.a holds \\ud83d, half"),
        (
            [{"role": "user", "content": "\ud800"}, {"role": "user", "content": "\udc00"}],
            "[0].content holds \\ud800 and [1].content holds \\udc00, each half a surrogate pair and no character.",
        ),
        (
            body(["\ud800", "\ud800", "\ud800"]),
            "messages[0].content[0] holds \\ud800 and messages[0].content[1] holds \\ud800,"
            " each half a surrogate pair and no character, and there are more.",
        ),
    ],
)
@pytest.mark.parametrize("layout", ["line", "lines", "document", "raw", "text"])
def test_half_a_pair_is_a_remark(value: Any, told: str, layout: str) -> None:
    text = json.dumps(value, indent=1 if layout == "document" else None, ensure_ascii=layout != "raw")
    if layout == "lines":
        text = f"{json.dumps(body('first'))}\n{text}"
    found = read(text if layout == "text" else text.encode("utf-8", "surrogatepass"))
    place = "the text, line 2" if layout == "lines" else "the text"
    remarks = [str(problem) for problem in found.problems if "surrogate" in problem.problem]
    assert len(remarks) == 1
    assert remarks[0].startswith(f"{place}: {told}")
    assert remarks[0].endswith(KEPT)
    assert all(problem.warning for problem in found.problems)
    assert found.counts.broken == 0


@pytest.mark.parametrize("text", ["\U0001f600", "é", "\\ud800 in words", "plain", '{"a": "\U0001f600"}', '{"\\ud800'])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_whole_pairs_and_texts_about_them_are_no_problem(text: str, ascii_only: bool) -> None:
    assert read(json.dumps(body(text), ensure_ascii=ascii_only)).problems == []


def test_what_is_kept_is_what_was_there() -> None:
    [transcript] = read(json.dumps(body("lone \ud800"))).transcripts
    assert transcript.messages[0]["content"] == "lone \ud800"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\ud800", f"{LARGE} In a file of this size a question mark stands in its place."),
        ("\udc00", f"large.json: messages[0].content holds \\udc00, half a surrogate pair and no character. {KEPT}"),
        ("\U0001f600", ""),
    ],
)
def test_a_large_document_tells_of_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.setattr(large_documents, "LARGE", 0)
    path = tmp_path / "large.json"
    path.write_text(json.dumps(body(text), indent=1))
    assert [str(problem) for problem in read(path).problems] == ([told] if told else [])


@given(st.lists(st.sampled_from(["a", "\\", "\ud83d", "\ude00", "\U0001f600", "é", '"']), max_size=12), st.data())
def test_chunks_show_the_same_as_the_whole(signs: list[str], data: st.DataObject) -> None:
    text = "".join(signs)
    spelt = json.dumps(text).encode()
    looking, start = HalvesInBytes(), 0
    while start < len(spelt):
        size = data.draw(st.integers(1, 40))
        looking.look(spelt[start : start + size])
        start += size
    looking.look(b"")
    assert looking.found == any("\ud800" <= sign <= "\udfff" for sign in json.loads(spelt))
