"""Counts stay, words go: replays of a transcript without content have the sizes of the one with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.dropped_content import NOTE, drop_content, drop_transcript, filler
from core.errors import ConfigError
from core.readers import read
from core.redact import Privacy, mask
from core.replay import replay
from core.tokens import TiktokenCounter
from core.transcript import Transcript
from core.wire import dump

SAMPLES = Path(__file__).parents[1] / "sample_data"
COUNTER = {"kind": "tiktoken", "encoding": "o200k_base"}


@pytest.mark.parametrize("tokens", [0, 1, 2, 3, 17, 1000])
def test_a_filler_has_its_tokens(tokens: int) -> None:
    assert TiktokenCounter("o200k_base").count(filler(tokens)) == tokens


def test_structure_stays_and_texts_go() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "the secret plan"}'}}
    wire = {"role": "assistant", "content": "the secret plan", "tool_calls": [call]}
    made = drop_content(wire)
    assert "secret" not in dump(made)
    assert (made["role"], made["tool_calls"][0]["id"], made["tool_calls"][0]["function"]["name"]) == (
        "assistant",
        "c1",
        "search",
    )
    assert wire["content"] == "the secret plan"


@pytest.fixture(scope="module", params=["support_triage.jsonl", "operations_zh.json", "long_chat.json"])
def transcript(request: pytest.FixtureRequest) -> Transcript:
    return read(SAMPLES / request.param).transcripts[0]


def test_windows_keep_their_sizes(transcript: Transcript) -> None:
    config = {"counter": COUNTER, "strategy": {"kind": "full_history"}}
    # Results of parallel calls are billed with escapes for what is not ASCII, which a filler does not have.
    share = 0.25 if "zh" in transcript.source else 0.06
    whole = replay(transcript, config).calls["in_window"]
    dropped = replay(drop_transcript(transcript), config).calls["in_window"]
    assert len(dropped) == len(whole)
    for before, after in zip(whole, dropped, strict=True):
        assert abs(after - before) <= share * before + 8, (before, after)


def test_nothing_that_was_said_is_left(transcript: Transcript) -> None:
    dropped = drop_transcript(transcript)
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
