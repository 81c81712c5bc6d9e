"""How far counts are off for a model: bias, spread, reserve, and the factor that belongs into a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.drift import Drift, Split, drift
from core.fitted_scale import Fit, fitted
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import Usage

AS_CAPTURED = {"strategy": {"kind": "as_captured"}}


def nothing() -> Split | None:
    return None


def test_bias_spread_and_reserve() -> None:
    made = drift([0.01] * 98 + [0.03, -0.05], {}, nothing)
    assert made is not None and (made.calls, made.scale, made.counter) == (100, None, None)
    assert made.bias == pytest.approx(0.0096) and made.spread == 0.01 and made.reserve_ratio == 0.03
    assert drift([0.01, 0.02], {}, nothing) is None
    short = drift([-0.01, -0.02, -0.03], {}, nothing)
    assert short is not None and short.reserve_ratio == 0.0


def test_a_fitted_factor_with_its_range() -> None:
    exact = fitted([(x, 500 + 2 * x) for x in range(1000, 2000, 100)])
    assert exact is not None and (exact.scale, exact.low, exact.high, exact.floor, exact.r2) == (2.0, 2.0, 2.0, 500, 1)
    rough = fitted([(x, 500 + 2 * x + (-1) ** x * 7) for x in range(1000, 2000, 99)])
    assert rough is not None and rough.low < rough.scale < rough.high
    assert fitted([(1000, 1), (2000, 2)]) is None
    assert fitted([(1000 + x, 5) for x in range(9)]) is None


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**4)), min_size=8, max_size=20), st.floats(0.7, 2.0))
def test_frames_do_not_move_the_factor(prompts: list[tuple[int, int]], factor: float) -> None:
    texts, frames = [text for text, _ in prompts], [frame for _, frame in prompts]
    reported = {at: 300 + round(factor * text) + frame for at, (text, frame) in enumerate(prompts)}
    made = drift([0.0] * 3, reported, lambda: Split("o200k_base", texts, frames))
    assert made is not None
    if max(texts) >= 1.2 * min(texts) and max(texts) - min(texts) > 10_000:
        assert made.scale is not None and made.scale.scale == pytest.approx(factor, abs=0.001)


@pytest.mark.parametrize(("scale", "usable"), [(0.69, False), (0.7, True), (1.181, True), (2.0, True), (4.29, False)])
def test_what_no_tokenizer_needs_is_not_suggested(scale: float, usable: bool) -> None:
    fit = Fit(scale, scale, scale, 0, 1.0)
    found = Drift(9, 0.0, 0.0, 0.0, fit, "o200k_base").counter
    assert found == ({"kind": "tiktoken", "encoding": "o200k_base", "scale": scale} if usable else None)


def growing_run(factor: float, hidden: int) -> Replay:
    """Return a run of an unknown model whose texts need more tokens than the plain encoding gives them."""
    builder, messages = TranscriptBuilder("openai_chat"), [{"role": "system", "content": "Be brief."}]
    for turn in range(14):
        messages = [*messages, {"role": "user", "content": f"What do the {turn} files of this folder hold? " * 20}]
        body = builder.body({"model": "some-model", "messages": messages})
        builder.call(body, usage=Usage(input=hidden + billed(messages, factor)), model="some-model")
        messages = [*messages, {"role": "assistant", "content": f"Nothing but {turn} lists of names."}]
    return replay(builder.build(), AS_CAPTURED)


def billed(messages: Sequence[dict[str, Any]], factor: float) -> int:
    builder = TranscriptBuilder("openai_chat")
    builder.call(builder.body({"model": "some-model", "messages": messages}))
    counter = {"kind": "tiktoken", "encoding": "o200k_base", "scale": factor}
    return int(replay(builder.build(), {**AS_CAPTURED, "counter": counter}).calls["in_window"][0])


@pytest.mark.parametrize("factor", [0.9, 1.181, 1.5])
def test_the_suggested_factor_takes_the_bias_away(factor: float) -> None:
    made = growing_run(factor, 700)
    found = made.calibration.by_model["some-model"]
    assert found.scale is not None and found.counter is not None
    assert found.scale.scale == pytest.approx(factor, abs=0.003) and found.scale.floor == pytest.approx(700, abs=5)
    assert found.scale.low <= found.scale.scale <= found.scale.high
    assert abs(found.bias) > 0.002
    again = replay(made.transcript, {**AS_CAPTURED, "counter": found.counter}).calibration
    assert abs(again.by_model["some-model"].bias) < 0.0003
    assert again.hidden == pytest.approx(700, abs=10)


@pytest.mark.parametrize(
    ("file", "factor", "before"),
    [("entire-go-cli-long.jsonl.gz", 1.181, 0.9872), ("d-kimuson-demo-v1.0.98.jsonl.gz", 1.2137, 1.0109)],
)
def test_on_recordings_of_claude(file: str, factor: float, before: float, transcripts_folder: Path) -> None:
    """The factor is one on the plain encoding although the counter of these models has one already."""
    transcript = max(read(transcripts_folder / "claude-code" / file).transcripts, key=lambda one: len(one.calls))
    own = replay(transcript, AS_CAPTURED).calibration
    (found,) = own.by_model.values()
    assert found.scale is not None and found.scale.scale == pytest.approx(factor, abs=0.003)
    scaled = replay(transcript, {**AS_CAPTURED, "counter": found.counter}).calibration
    (again,) = scaled.by_model.values()
    assert abs(again.bias) < abs(found.bias) and again.scale == found.scale
    for made, expected in ((own, before), (scaled, 1.0)):
        line = fitted([(row.counted, row.reported) for row in made.calls if row.reported])
        assert line is not None and line.scale == pytest.approx(expected, abs=0.002)


def test_no_reading_of_a_fit_is_kept() -> None:
    """A fit counts all prompts twice more, by counters that nobody asked for."""
    made = growing_run(1.5, 700)
    kept = list(made.transcript.memo["readings"])
    assert len(kept) == 1
    found = made.calibration.by_model["some-model"]
    assert found.scale is not None  # so the prompts were counted
    assert list(made.transcript.memo["readings"]) == kept


def test_nothing_of_the_fit_is_kept(transcripts_folder: Path) -> None:
    (transcript,) = read(transcripts_folder / "claude-code/vct-v1.0.95.jsonl").transcripts
    made = replay(transcript, AS_CAPTURED).calibration
    before = list(transcript.memo["readings"])
    assert made.by_model and list(transcript.memo["readings"]) == before


def test_a_model_with_its_own_encoding_needs_no_factor(transcripts_folder: Path) -> None:
    (transcript,) = read(transcripts_folder / "mini-swe-agent/django-11797.traj.json.gz").transcripts
    (found,) = replay(transcript, AS_CAPTURED).calibration.by_model.values()
    assert found.calls > 100 and found.scale is None and found.counter is None
