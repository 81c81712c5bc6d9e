"""The largest capture that is taken, and what is said at the start of a setting that cannot be one."""

from __future__ import annotations

import pytest

from storage import start
from storage.capture_limit import LIMIT, capture_limit, limit_fault


@pytest.mark.parametrize(
    ("given", "limit"), [("1", 1_000_000), ("0.002", 2_000), (" 7 ", 7_000_000), ("1e3", 1_000_000_000)]
)
def test_a_limit_in_megabytes(given: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, given)
    assert (capture_limit(), limit_fault()) == (limit, "")


@pytest.mark.parametrize("given", [None, "", "  "])
def test_no_limit_is_the_usual_one(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT, raising=False)
    if given is not None:
        monkeypatch.setenv(LIMIT, given)
    assert (capture_limit(), limit_fault()) == (64_000_000, "")


@pytest.mark.parametrize("given", ["x", "0", "-1", "inf", "-inf", "nan", "64 MB", "1e-9", "1,5"])
def test_a_limit_that_cannot_be_used_is_told_at_start(
    given: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(LIMIT, given)
    monkeypatch.setattr(start, "library", lambda: None)
    assert capture_limit() == 64_000_000
    start.get_ready()
    assert [record.getMessage() for record in caplog.records] == [
        f"PROMPT_INSPECTOR_CAPTURE_MB is '{given}'; a number of megabytes above 0 was expected."
        " Captures of up to 64 MB are taken."
    ]


def test_a_start_with_usable_settings_says_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(LIMIT, "8")
    monkeypatch.setattr(start, "library", lambda: None)
    start.get_ready()
    assert caplog.records == []
