"""What a model's name tells: documented figures, and None where nothing is documented."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from core.models import limits_date, profile
from core.tokens import Exactness

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("name", "provider", "window", "max_output"),
    [
        ("gpt-4o", "openai", 128_000, 16_384),
        ("gpt-4o-2024-08-06", "openai", 128_000, 16_384),
        ("gpt-4o-2024-05-13", "openai", 128_000, 4_096),  # this release has a limit of its own
        ("ft:gpt-4o:team::id", "openai", 128_000, 16_384),
        ("openai/gpt-4o", "openai", 128_000, 16_384),
        ("azure/gpt-4o", "azure", 128_000, 16_384),
        ("gpt-4.1", "openai", 1_047_576, 32_768),
        ("gpt-5", "openai", 400_000, 128_000),
        ("gpt-5-chat-latest", "openai", 128_000, 16_384),  # not the limits of gpt-5
        ("gpt-5.6", "openai", 1_050_000, 128_000),
        ("gpt-6-astra", "openai", 1_050_000, 128_000),
        ("o3", "openai", 200_000, 100_000),
        ("claude-3-5-haiku-latest", "anthropic", 200_000, 8_192),
        ("claude-sonnet-4-5-20250929", "anthropic", 200_000, 64_000),
        ("anthropic/claude-sonnet-4.5", "anthropic", 200_000, 64_000),
        ("claude-opus-4-1@20250805", "anthropic", 200_000, 32_000),
        ("us.anthropic.claude-opus-4-20250514-v1:0", "aws", 200_000, 32_000),
        ("Claude-Opus-5", "anthropic", 1_000_000, 128_000),
        ("models/gemini-2.5-pro", "google", 1_048_576, 65_536),
        ("deepseek-chat", "deepseek", 128_000, 8_192),  # the name was moved to a newer model, with a larger window
        ("deepseek/deepseek-reasoner", "deepseek", 128_000, 65_536),
    ],
)
def test_documented_limits(name: str, provider: str, window: int, max_output: int) -> None:
    found = profile(name)
    assert (found.name, found.provider, found.window, found.max_output) == (name, provider, window, max_output)


@pytest.mark.parametrize(
    ("name", "provider", "window"),
    [
        (None, None, None),
        ("", None, None),
        ("in-house-7b", None, None),
        ("claude", None, None),
        ("openai/gpt-99", None, None),
        ("ft:", None, None),
        ("gpt-4o-mini-imitation", None, None),
        ("gpt-4o:extended", "openai", None),
        ("gpt-4", "openai", 8_192),
        ("deepseek-v3.2", "deepseek", 128_000),
    ],
)
def test_what_is_not_documented_is_none(name: str | None, provider: str | None, window: int | None) -> None:
    found = profile(name)
    assert (found.provider, found.window, found.max_output) == (provider, window, None)


@pytest.mark.parametrize(
    ("name", "encoding", "scale", "exactness"),
    [
        ("gpt-4o", "o200k_base", 1.0, Exactness.EXACT),
        ("gpt-4", "cl100k_base", 1.0, Exactness.EXACT),
        ("claude-sonnet-5", "o200k_base", 1.5, Exactness.ESTIMATE),
        ("in-house-7b", "o200k_base", 1.0, Exactness.ESTIMATE),
        (None, "o200k_base", 1.0, Exactness.ESTIMATE),
    ],
)
def test_how_texts_are_counted(name: str | None, encoding: str, scale: float, exactness: Exactness) -> None:
    found = profile(name)
    assert (found.encoding, found.scale, found.exactness) == (encoding, scale, exactness)


def test_limits_file_is_dated_and_plausible() -> None:
    content = json.loads((ROOT / "core" / "model_limits.json").read_text(encoding="utf-8"))
    assert limits_date() == date.fromisoformat(content["as_of"])
    assert content["sources"]
    for name, limits in content["models"].items():
        assert set(limits) <= {"max_output", "window", "cache_minimum"}, name
        assert profile(name).max_output == limits["max_output"], name
        window = profile(name).window
        assert window is None or 0 < limits["max_output"] < window, name


def test_price_data_are_imported_only_when_asked_for() -> None:
    code = "import sys, core.models; print('genai_prices' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, check=True)
    assert done.stdout == "False\n"
