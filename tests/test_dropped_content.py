"""Counts stay, words go: replays of a transcript without content have the sizes of the one with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.dialects import dialect
from core.dropped_content import FINGERPRINTS, NOTE, ContentDropper, same_parts, same_system
from core.dropped_values import anonymous, anonymous_json, filler
from core.errors import ConfigError
from core.readers import read
from core.redact import Privacy, mask
from core.replay import replay
from core.tokens import TiktokenCounter
from core.transcript import Transcript
from core.wire import dump

SAMPLES = Path(__file__).parents[1] / "sample_data"
COUNTER = {"kind": "tiktoken", "encoding": "o200k_base"}
COUNT = TiktokenCounter("o200k_base").count
DROPPER = ContentDropper(b"k" * 32)


@pytest.mark.parametrize("tokens", [0, 1, 2, 3, 17, 1000])
def test_a_filler_has_its_tokens(tokens: int) -> None:
    assert TiktokenCounter("o200k_base").count(filler(tokens)) == tokens


def test_structure_stays_and_texts_go() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "the secret plan"}'}}
    wire = {"role": "assistant", "content": "the secret plan", "tool_calls": [call]}
    made = DROPPER.message(dialect("openai_chat"), wire)
    assert "secret" not in dump(made)
    assert {key: value for key, value in made.items() if key != FINGERPRINTS} == {
        "role": "assistant",
        "content": "a a a",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"a": "a a a"}'}}],
    }
    assert wire["content"] == "the secret plan"


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (None, None),
        (True, True),
        (False, True),
        ("", ""),
        ("the secret plan", "a a a"),
        (98765, 111111),
        (0.5, 111111111),
        ({}, {}),
        ({"name": "Jo", "ages": [7, "old"]}, {"a": "a", "b": [111, "a"]}),
        ({"patient_name": False}, {"a a": True}),
    ],
)
def test_a_value_keeps_its_shape_and_says_nothing(value: Any, made: Any) -> None:
    assert anonymous(value) == made


def test_many_keys_stay_many() -> None:
    value = {f"key{number}": number for number in range(100)}
    assert len(anonymous(value)) == 100


def test_a_value_deeper_than_its_shape_is_kept() -> None:
    value: Any = "the secret plan"
    for _ in range(200):
        value = {"secret": [value]}
    assert "secret" not in dump(anonymous(value))


@pytest.mark.parametrize("number", [10**3000, -(10**3000), 1e308])
def test_a_number_of_any_size_is_dropped(number: float) -> None:
    assert set(str(anonymous(number))) == {"1"}


ARGUMENTS = [
    '{"q":"a \\"quoted\\"\\nline"}',
    '{"q": "a \\"quoted\\"\\nline", "n": [1, 2]}',
    "no JSON at all",
    "[]",
    "{}",
]


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments_have_as_many_tokens_when_written(text: str) -> None:
    made = anonymous_json(text)
    assert COUNT(compact(made)) == COUNT(compact(text))
    assert not {"quoted", "line", "JSON"} & set(made.replace('"', " ").split())


def compact(text: str) -> str:
    try:
        return dump(json.loads(text))
    except ValueError:
        return text


SAID = {
    "name": "John Doe",
    "status": "HIV positive",
    "id": "078-05-1120",
    "type": "widow",
    "salary": 98765,
    "ill": True,
}
TOOL = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The name of John Doe", "enum": ["John Doe"]},
        "default": {"type": "integer", "default": 98765, "minimum": 3},
    },
}
TOOL_LEFT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "a a a a a", "enum": ["a a"]},
        "default": {"type": "integer", "default": 111111, "minimum": 3},
    },
}


def test_definitions_of_tools_lose_their_texts_and_examples_alone() -> None:
    head = {"model": "m", "messages": [], "tools": [{"name": "find", "input_schema": TOOL}], "temperature": 0.5}
    made = DROPPER.head(dialect("anthropic"), head)
    assert {key: value for key, value in made.items() if key != FINGERPRINTS} == {
        **head,
        "tools": [{"name": "find", "input_schema": TOOL_LEFT}],
    }


@pytest.mark.parametrize("key", ["metadata", "customer", "logit_bias", "John Doe"])
def test_what_no_dialect_knows_in_a_head_is_dropped_whole(key: str) -> None:
    made = DROPPER.head(dialect("openai_chat"), {"model": "m", "messages": [], key: SAID})
    assert list(made)[:2] == ["model", "messages"]
    assert set(made) - {"model", "messages", FINGERPRINTS} <= {"a", "a a", "a a a"}
    said = [word for word in SAID.values() if isinstance(word, str)]
    assert not [word for word in said if word in dump(made)]


def test_a_name_stays_where_it_is_a_tools_and_not_where_it_is_a_users() -> None:
    chat = dialect("openai_chat")
    assert DROPPER.message(chat, {"role": "user", "name": "John", "content": "hi"})["name"] == "a"
    assert DROPPER.message(chat, {"role": "tool", "name": "find", "content": "hi"})["name"] == "find"


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic", "gemini"])
def test_messages_of_one_size_are_told_apart_and_equal_ones_are_equal(name: str) -> None:
    spoken = dialect(name)

    def dropped(text: str, key: bytes = b"k" * 32) -> Any:
        return ContentDropper(key).message(spoken, spoken.text_message("user", text))

    red, again, old, elsewhere = dropped("red"), dropped("red"), dropped("old"), dropped("red", b"other" * 6)
    assert red == again and spoken.content_key(red) != spoken.content_key(old)
    assert same_parts(spoken, red, again) and not same_parts(spoken, red, old)
    assert elsewhere[FINGERPRINTS] != red[FINGERPRINTS]
    assert same_parts(spoken, spoken.text_message("user", "red"), spoken.text_message("user", "red"))


def test_marks_and_spellings_do_not_change_what_a_message_is() -> None:
    chat = dialect("anthropic")
    marked = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
    plain, made = DROPPER.message(chat, {"role": "user", "content": "hi"}), DROPPER.message(chat, marked)
    assert chat.content_key(plain) == chat.content_key(made)
    assert made["content"] == [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]


def test_heads_of_one_size_are_told_apart() -> None:
    claude = dialect("anthropic")

    def dropped(system: str, temperature: float) -> Any:
        return DROPPER.head(claude, {"model": "m", "system": system, "messages": [], "temperature": temperature})

    assert dropped("red", 0) == dropped("red", 0) != dropped("old", 0)
    assert same_system(claude, dropped("red", 0), dropped("red", 1))
    assert not same_system(claude, dropped("red", 0), dropped("old", 0))


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "wire", ["said", None, 5, ["said"], {}, {"content": {"said": 1}}, {"role": 5, "parts": "said"}]
)
def test_what_is_no_message_is_dropped_too(name: str, wire: Any) -> None:
    made = DROPPER.message(dialect(name), wire)
    assert "said" not in dump(made)
    assert isinstance(made, dict) and len(made[FINGERPRINTS]) == 2


@pytest.fixture(scope="module", params=["support_triage.jsonl", "operations_zh.json", "long_chat.json"])
def transcript(request: pytest.FixtureRequest) -> Transcript:
    return read(SAMPLES / request.param).transcripts[0]


def test_windows_keep_their_sizes(transcript: Transcript) -> None:
    config = {"counter": COUNTER, "strategy": {"kind": "full_history"}}
    # Results of parallel calls are billed with escapes for what is not ASCII, which a filler does not have.
    share = 0.25 if "zh" in transcript.source else 0.02
    whole = replay(transcript, config).calls["in_window"]
    dropped = replay(DROPPER.transcript(transcript), config).calls["in_window"]
    assert len(dropped) == len(whole)
    for before, after in zip(whole, dropped, strict=True):
        assert abs(after - before) <= share * before, (before, after)


def test_nothing_that_was_said_is_left(transcript: Transcript) -> None:
    dropped = DROPPER.transcript(transcript)
    said = dump([dict(head) for head in dropped.heads]) + dump([dict(wire) for wire in dropped.messages])
    words = {word for word in dump(transcript.messages[0]).split() if len(word) > 9 and word.isalpha()}
    assert not [word for word in words if word in said]
    assert NOTE in dropped.notes and dropped.title == f"{transcript.format} without content"
    assert [call.usage for call in dropped.calls] == [call.usage for call in transcript.calls]


@pytest.mark.parametrize(
    ("words", "privacy"),
    [
        ("", Privacy()),
        ("emails", Privacy(emails=True)),
        ("content, Emails", Privacy(True, True)),
        (" emails , ", Privacy(emails=True)),
    ],
)
def test_switches_are_words(words: str, privacy: Privacy) -> None:
    assert Privacy.of(words) == privacy


@pytest.mark.parametrize("words", ["email", "nothing", "emails, contents", "emails content"])
def test_a_word_that_hides_nothing_is_refused(words: str) -> None:
    with pytest.raises(ConfigError, match="names nothing that can be hidden"):
        Privacy.of(words)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("write to ann@example.com now", 1),
        ("ann@example.com, bob.b+x@mail.example.org", 2),
        ("git@ and @decorator and a@b", 0),
        ("user@host:path", 0),
        ("邮箱ann@example.com。", 1),
    ],
)
def test_addresses_are_masked_where_asked_for(text: str, found: int) -> None:
    masked = mask({"content": text}, Privacy(emails=True))
    assert masked.found.get("email", 0) == found
    assert ("example" in masked.value["content"]) is (found == 0 and "example" in text)
    assert mask({"content": text}).value == {"content": text}


def test_equal_addresses_stay_equal() -> None:
    masked = mask(["ann@example.com", "to ann@example.com", "bob@example.com"], Privacy(emails=True)).value
    assert masked[0] in masked[1] and masked[2] != masked[0]
