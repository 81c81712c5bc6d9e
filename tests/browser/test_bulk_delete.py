"""What only a browser shows of the Library: several transcripts are ticked and deleted together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.driver import ROW, Viewer

Open = Callable[..., Viewer]


def tick(viewer: Viewer, row: int) -> None:
    """Tick a row (from 0), or all in the head (-1)."""
    canvas = viewer.page.locator("[class*='st-key-ticked_'] canvas").first
    canvas.wait_for(state="visible")
    box = canvas.bounding_box()
    assert box is not None
    viewer.page.mouse.click(box["x"] + 20, box["y"] + ROW * (row + 1.5))


def test_ticked_transcripts_are_deleted_with_one_confirmation_and_no_other(view: Open, tmp_path: Path) -> None:
    paths = [tmp_path / f"bulk_{number}.json" for number in range(4)]
    for path in paths:
        path.write_text(json.dumps([{"role": "user", "content": f"the question of {path.stem}"}]), encoding="utf-8")
    viewer = view("/", width=1280)
    count = viewer.page.get_by_text(re.compile(r"^\d+ transcripts\. Click one to open it\.$"))
    before = count.inner_text()
    viewer.page.locator("input[type=file]").set_input_files(paths)
    viewer.says("4 transcripts from 4 files.")
    expect(count).not_to_have_text(before)
    viewer.settle()
    viewer.go("/?search=bulk_").says("4 transcripts.")
    viewer.page.get_by_text("Select several").click()
    viewer.says("4 transcripts. Tick those to delete.")
    viewer.settle()
    expect(viewer.page.get_by_role("button", name="Delete")).to_be_disabled()
    tick(viewer, 0)
    expect(viewer.page.get_by_role("button", name="Delete 1 transcript")).to_be_enabled()
    viewer.settle()
    tick(viewer, 2)
    viewer.page.get_by_role("button", name="Delete 2 transcripts").click()
    dialog = viewer.page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 transcripts with 2 calls are deleted. This cannot be undone.")
    named = dialog.get_by_role("listitem").all_inner_texts()
    dialog.get_by_role("button", name="Delete 2 transcripts").click()
    expect(dialog).to_have_count(0)
    viewer.says("2 transcripts were deleted.")
    viewer.says("2 transcripts. Tick those to delete.")
    viewer.settle()
    expect(viewer.page.get_by_role("button", name="Delete", exact=False)).to_be_disabled()
    every = {f"the question of {path.stem}" for path in paths}
    assert len(every & set(named)) == 2
    tick(viewer, -1)
    viewer.page.get_by_role("button", name="Delete 2 transcripts").click()
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    assert set(dialog.get_by_role("listitem").all_inner_texts()) == every - set(named)
    dialog.get_by_role("button", name="Delete 2 transcripts").click()
    viewer.says("No transcript has “bulk_” in its names or tags.")
    viewer.go("/")
    expect(count).to_have_text(before)
