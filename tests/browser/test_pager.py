"""What only a browser shows of the pager: which numbers it has room for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.driver import Viewer

Open = Callable[..., Viewer]


def chat(calls: int) -> str:
    said = [{"role": role, "content": f"{role} {number}"} for number in range(calls) for role in ("user", "assistant")]
    return json.dumps({"model": "gpt-4o", "messages": said})


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5])
def test_few_calls_have_all_their_numbers(view: Open, tmp_path: Path, calls: int) -> None:
    path = tmp_path / f"few_calls_{calls}.json"
    path.write_text(chat(calls), encoding="utf-8")
    viewer = view("/", width=1280)
    viewer.page.locator("input[type=file]").set_input_files(path)
    viewer.says(f"{calls} call")
    viewer.go(f"/?search={path.name}").says("1 transcript.")
    viewer.click_row("transcripts", 0, x=200)
    viewer.page.wait_for_url("**/inspect?transcript=*")
    viewer.says(f"Call {calls} of {calls}")
    expect(viewer.page.get_by_test_id("stPaginationPageActive")).to_have_text(str(calls))
    numbers = viewer.page.get_by_test_id("stPagination").get_by_role("button").all_inner_texts()
    assert [text for text in numbers if text.isdecimal()] == [str(number + 1) for number in range(calls)]
