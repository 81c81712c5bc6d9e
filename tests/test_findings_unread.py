"""Files that count as 0 are told, once each, with the first call that sends them."""

from __future__ import annotations

from typing import Any

import pytest

from core.finding import Finding
from core.findings import findings
from core.replay import replay
from core.transcript import Transcript
from tests.runs import run, says, user

PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
TEXT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "The whole text."}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}


def told(transcript: Transcript) -> Finding | None:
    made = replay(transcript, {"strategy": {"kind": "full_history"}})
    return next((finding for finding in findings(made) if finding.name == "uncounted_files"), None)


def asked(*parts: Any) -> Transcript:
    shown = {"role": "user", "content": [{"type": "text", "text": "Look."}, *parts]}
    return run([user("Hello."), says("Hello."), shown, says("I see."), user("And now?"), says("Still there.")])


@pytest.mark.parametrize(
    ("parts", "number", "kinds"),
    [([PDF], 1, "document"), ([SOUND], 1, "input_audio"), ([PDF, SOUND, PDF], 3, "document, input_audio")],
)
def test_files_without_text_are_told_once_each(parts: list[Any], number: int, kinds: str) -> None:
    finding = told(asked(*parts))
    assert finding is not None
    assert (finding.call, finding.span_ids, finding.figures) == (1, ("m2.1",), {"files": number})
    assert f"({kinds}) in the prompts from call 2 on count as 0" in finding.sentence


@pytest.mark.parametrize("part", [TEXT, IMAGE, {"type": "text", "text": "only text"}])
def test_what_has_a_count_is_not_told(part: Any) -> None:
    assert told(asked(part)) is None
