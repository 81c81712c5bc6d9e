"""What only two windows show: a transcript that is open in one is deleted in the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.driver import Viewer

Open = Callable[..., Viewer]


def delete(viewer: Viewer, name: str) -> None:
    """Delete the transcript of a file in the library."""
    viewer.go(f"/?search={name}").says("1 transcript.")
    viewer.click_row("transcripts", 0, x=-28)
    viewer.page.get_by_text("Delete", exact=True).click()
    viewer.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    viewer.says("No transcript has")
    viewer.settle()


def opened(view: Open, tmp_path: Path, name: str) -> Viewer:
    """Add a transcript and open it."""
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps([{"role": "user", "content": f"the question of {name}"}]), encoding="utf-8")
    viewer = view("/")
    viewer.page.locator("input[type=file]").set_input_files(path)
    viewer.says("1 transcript with 1 call")
    viewer.go(f"/?search={name}.json").says("1 transcript.")
    viewer.click_row("transcripts", 0, x=200)
    viewer.page.wait_for_url("**/inspect?transcript=*")
    viewer.title(f"the question of {name}")
    return viewer


def test_a_transcript_deleted_in_another_window_is_replaced_by_none(view: Open, tmp_path: Path) -> None:
    viewer = opened(view, tmp_path, "two_windows")
    number = viewer.page.url.partition("transcript=")[2]
    delete(view("/"), "two_windows.json")
    for name in ("Compare", "Advise", "Inspect"):
        viewer.page.get_by_role("link", name=name).click()
        viewer.page.wait_for_url(f"**/{name.lower()}?transcript={number}")
        viewer.title("This transcript was deleted")
        viewer.says("“the question of two_windows” was deleted after this window had opened or listed it.")
        expect(viewer.page.get_by_test_id("stMetric")).to_have_count(0)
    offered = viewer.page.get_by_role("button", name=re.compile(r" · [\d,]+ calls?$")).first
    title = offered.inner_text().splitlines()[-1].partition(" · ")[0]
    offered.click()
    viewer.title(title)
    assert viewer.page.url.partition("transcript=")[2] != number
    viewer.page.reload()
    viewer.title(title)


def test_who_deletes_the_transcript_seen_last_is_shown_another_one(view: Open, tmp_path: Path) -> None:
    viewer = opened(view, tmp_path, "own_window")
    viewer.page.get_by_role("link", name="Library").click()
    viewer.title("Library")
    viewer.page.get_by_placeholder("Search titles").fill("own_window.json")
    viewer.page.keyboard.press("Enter")
    viewer.says("1 transcript.")
    viewer.settle()
    viewer.page.mouse.move(300, 400)
    viewer.click_row("transcripts", 0, x=-28)
    viewer.page.get_by_text("Delete", exact=True).click()
    viewer.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    viewer.says("No transcript has")
    viewer.settle()
    viewer.page.get_by_role("link", name="Inspect").click()
    viewer.page.wait_for_url("**/inspect?transcript=*")
    expect(viewer.page.get_by_test_id("stMetric")).to_have_count(5)
    viewer.settle()
