"""Limits that leave nothing of a window: every page says so once, and shows what needs no budget."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.limits import Limits
from storage import Library
from tests.pages_app import Open, id_of, page, run, sample, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

BAD = {"model": "gpt-4o", "window": "30000", "max_output": "40000"}
SAID = "nothing is left of a window of 30,000 tokens: 10% reserve and 40,000 tokens of output leave -13,000"
SLOTS = {slot: json.dumps({"strategy": {"kind": kind}}) for slot, kind in (("a", "full_history"), ("b", "keep_last"))}


def errors(app: AppTest) -> list[str]:
    return [error.value.replace("\\", "") for error in app.error]


def test_inspect_shows_the_whole_page_without_limits(page: Open, store: Library) -> None:
    good, bad = (page("inspect_transcript.py", transcript=id_of(store), **more) for more in ({}, BAD))
    assert [SAID in error for error in errors(bad)] == [True] and errors(good) == []
    assert [metric.value for metric in bad.metric] == [metric.value for metric in good.metric]
    assert bad.metric[0].delta == "no limit set" and good.metric[0].delta.endswith("of soft budget")
    [chart] = bad.get("vega_lite_chart")
    assert b"hard window" not in chart.proto.SerializeToString()
    assert "Far above the chart: " in shown(good) and "Far above the chart: " not in shown(bad)
    assert [frame.value.shape for frame in bad.dataframe] == [frame.value.shape for frame in good.dataframe]
    assert "Call 20** of 20" in shown(bad) and "Texts are counted exactly" in shown(bad)


@pytest.mark.parametrize(
    ("name", "soft", "slots"),
    [("inspect_transcript.py", "soft", {}), ("compare.py", "budget", SLOTS), ("advise.py", "soft", {})],
)
def test_the_sentence_stands_once_and_can_be_mended_on_the_page(
    page: Open, store: Library, name: str, soft: str, slots: dict[str, str]
) -> None:
    app = page(name, transcript=id_of(store), **BAD, **slots)
    assert [SAID in error for error in errors(app)] == [True]
    assert len(app.title) == 1 and "not documented here, so nothing says" not in shown(app)
    app.number_input(key=soft).set_value(5_000)
    assert errors(run(app)) == []
    app.number_input(key=soft).set_value(None)
    assert len(errors(run(app))) == 1
    app.number_input(key="max_output").set_value(4_000)
    assert errors(run(app)) == []


def test_advise_still_has_its_findings_and_presets(page: Open, store: Library) -> None:
    text = shown(page("advise.py", transcript=id_of(store), **BAD))
    assert "Tool output share" in text and "Or start from a preset" in text


def test_what_was_captured_is_counted_for_the_model_that_is_set() -> None:
    config, unusable = Limits({"name": "claude-opus-4", "window": 30, "max_output": 40}, {"soft_limit": None}).captured(
        sample()
    )
    assert unusable is not None and unusable.key == "budget"
    assert (config.model.name, config.model.window, config.model.max_output) == ("claude-opus-4", None, None)
    assert config.counter.scale == 1.2
    usable, none = Limits({"window": 30_000}, {"soft_limit": None}).captured(sample())
    assert (usable.model.window, none) == (30_000, None)
