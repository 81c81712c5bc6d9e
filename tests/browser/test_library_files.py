"""What only a browser shows of many transcripts of one file: their row is opened, left, ticked and deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.driver import Viewer
from tests.browser.test_bulk_delete import tick

Open = Callable[..., Viewer]

NUMBER = 60


@pytest.fixture
def history(view: Open, tmp_path: Path) -> Viewer:
    """A library with a chat history of many chats, and the name of the file as its search."""
    path = tmp_path / "grouped.chat.history.md"
    chats = (
        f"# aider chat started at 2026-03-01 10:{number:02}:00\n\n#### question {number}  \n\nanswer {number}\n\n"
        for number in range(NUMBER)
    )
    path.write_text("".join(chats), encoding="utf-8")
    viewer = view("/", width=1280)
    viewer.page.locator("input[type=file]").set_input_files(path)
    viewer.says(f"{NUMBER} transcripts with {NUMBER} calls, read as aider.")
    viewer.settle()
    viewer.go("/?search=grouped.chat")
    viewer.says(f"{NUMBER} transcripts, many of one file as one row. Click one to open it.")
    return viewer


def test_a_file_is_opened_as_a_list_and_left_again(history: Viewer, view: Open) -> None:
    viewer = history
    viewer.click_row("transcripts", 0, x=200)
    viewer.says(f"{NUMBER} transcripts. Click one to open it.")
    viewer.address_has("file", "grouped.chat.history.md")
    viewer.settle()
    viewer.page.get_by_role("button", name="Page 2", exact=True).click()
    viewer.address_has("file_page", "2")
    viewer.settle()
    copied = view(viewer.page.url.removeprefix(viewer.address))
    copied.says(f"{NUMBER} transcripts. Click one to open it.")
    copied.page.mouse.move(300, 400)
    copied.click_row("transcripts_of_file", 0, x=200)
    copied.page.wait_for_url("**/inspect?transcript=*")
    copied.title("question 9")
    viewer.page.get_by_role("button", name="All transcripts").click()
    viewer.says("many of one file as one row")
    viewer.settle()
    clean(viewer)


def test_a_row_of_a_file_is_deleted_with_all_that_it_stands_for(history: Viewer) -> None:
    viewer = history
    viewer.page.get_by_text("Select several").click()
    viewer.says("Tick those to delete.")
    viewer.settle()
    tick(viewer, 0)
    viewer.page.get_by_role("button", name=f"Delete {NUMBER} transcripts").click()
    dialog = viewer.page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text([f"{NUMBER} transcripts of grouped.chat.history.md"])
    expect(dialog).to_contain_text(f"{NUMBER} transcripts with {NUMBER} calls are deleted.")
    dialog.get_by_role("button", name=f"Delete {NUMBER} transcripts").click()
    viewer.says(f"{NUMBER} transcripts were deleted.")
    viewer.says("No transcript has “grouped.chat” in its names or tags.")


def clean(viewer: Viewer) -> None:
    """Ask twice to delete the file from its menu: once it is left alone, once it is gone, and that is said."""
    _ask(viewer).get_by_role("button", name="Cancel").click()
    expect(viewer.page.get_by_role("dialog")).to_have_count(0)
    viewer.says("many of one file as one row")
    viewer.settle()
    _ask(viewer).get_by_role("button", name=f"Delete {NUMBER} transcripts").click()
    viewer.says("No transcript has “grouped.chat” in its names or tags.")
    viewer.says(f"{NUMBER} transcripts were deleted.")


def _ask(viewer: Viewer) -> Locator:
    viewer.page.mouse.move(300, 400)
    viewer.click_row("transcripts", 0, x=-28)
    expect(viewer.page.get_by_text("Rename", exact=True)).to_have_count(0)
    viewer.page.get_by_text("Delete", exact=True).last.click()
    return viewer.page.get_by_role("dialog")
