"""What the Configurations page says of production: lines that run, and the packages that are really needed."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from core.config import load_config
from pages.parts.production import NEEDED, needs, snippet
from storage import Library
from tests.pages_app import ROOT, Open, page, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

KEPT = {"strategy": {"kind": "keep_last", "keep_steps": 3}}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
INSTALLED = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"]["core"]
"""The package's name once it is installed."""


def test_the_packages_named_are_those_of_the_distribution() -> None:
    assert list(NEEDED) == [Requirement(line).name for line in PROJECT["dependencies"]]


@pytest.mark.parametrize(
    ("counter", "extras"),
    [
        ({}, []),
        ({"kind": "tiktoken", "encoding": "o200k_base"}, []),
        ({"kind": "chars4"}, []),
        ({"kind": "tiktoken", "encoding": "deepseek"}, ["deepseek"]),
    ],
)
def test_a_configuration_names_the_extras_that_it_is_refused_without(
    counter: dict[str, str], extras: list[str]
) -> None:
    said = needs(load_config({**KEPT, "counter": counter}))
    assert re.findall(r"\.\[(\w+)\]", said) == extras
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    assert all(name in said for name in NEEDED)


def test_the_page_says_what_the_chosen_configuration_needs(page: Open, store: Library) -> None:
    store.configs.save("exact", {**KEPT, "counter": {"kind": "tiktoken", "encoding": "deepseek"}})
    assert "also needs the extra `deepseek`" in shown(page("configurations.py", config="exact"))
    assert "the extra" not in shown(page("configurations.py", config="support triage, 5,000 tokens"))


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("anthropic", "client.messages.create(**result.request)"),
        ("openai_chat", "client.chat.completions.create(**result.request)"),
        ("openai_responses", "client.responses.create(**result.request)"),
        ("gemini", "post(result.request)"),
        (None, "client.chat.completions.create(**result.request)"),
    ],
)
def test_the_lines_are_python_for_the_dialect(dialect: str | None, call: str) -> None:
    text = snippet(load_config({**KEPT, "model": {"dialect": dialect}}), "kept.json")
    compile(text, "snippet", "exec")
    assert f"from {INSTALLED}.runtime import ContextRuntime" in text
    assert 'ContextRuntime.load("kept.json")' in text
    assert f"response = {call}\n" in text
