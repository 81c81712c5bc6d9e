"""What only a browser shows: that every page is drawn, in both themes, and what a click, a file and a link do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.readers import read
from core.runtime import ContextRuntime
from core.wire import dump
from tests.browser.driver import ROOT, Viewer

Open = Callable[..., Viewer]
TRIAGE = ROOT / "sample_data" / "support_triage.jsonl"
CALLS = 20


@pytest.fixture
def triage(view: Open) -> Viewer:
    """Open Inspect on the support run by searching the library for it."""
    viewer = view("/?search=support_triage")
    viewer.says("1 transcript.")
    viewer.click_row("transcripts", 0, x=200)
    viewer.page.wait_for_url("**/inspect?transcript=*")
    viewer.title("tent")
    return viewer


def number_of(viewer: Viewer) -> str:
    found = re.search(r"transcript=(\d+)", viewer.page.url)
    assert found
    return found[1]


@pytest.mark.parametrize(("dark", "width"), [(False, 1440), (True, 1280)], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/", "peak window"),
        ("/inspect", "Peak in window"),
        ("/compare", "Export JSON"),
        ("/configurations", "Download"),
    ],
)
def test_a_page_is_drawn_without_faults_and_without_leaving_the_machine(
    view: Open, path: str, shown: str, dark: bool, width: int
) -> None:
    viewer = view(path, dark=dark, width=width)
    expect(viewer.page.get_by_text(shown).first).to_be_attached()
    if path in ("/inspect", "/compare"):
        viewer.chart()
    wider = viewer.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0
    background = viewer.page.evaluate(
        "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    assert background == ("rgb(18, 23, 26)" if dark else "rgb(255, 255, 255)")


def test_a_click_above_a_bar_chooses_its_call_and_the_link_keeps_it(triage: Viewer, view: Open) -> None:
    triage.click_bar(5, of=CALLS)
    triage.says("Call 5 of 20")
    triage.address_has("call", "5")
    triage.settle()
    copied = view(triage.page.url.removeprefix(triage.address))
    copied.says("Call 5 of 20")
    copied.says(f"Call 5 of {CALLS}")


def test_the_same_bar_can_be_chosen_again_after_walking_on(triage: Viewer) -> None:
    triage.click_bar(5, of=CALLS)
    triage.says("Call 5 of 20")
    triage.settle()
    triage.page.get_by_role("button", name="Next").click()
    triage.says("Call 6 of 20")
    triage.settle()
    triage.click_bar(5, of=CALLS)
    triage.says("Call 5 of 20")


def test_a_click_on_a_row_shows_the_text_of_its_span(triage: Viewer, view: Open) -> None:
    before = triage.page.get_by_test_id("stCode").first.inner_text()
    triage.click_row("spans_", 2)
    expect(triage.page.get_by_test_id("stCode").first).not_to_have_text(before)
    triage.settle()
    chosen = triage.page.get_by_test_id("stCode").first.inner_text()
    copied = view(triage.page.url.removeprefix(triage.address))
    expect(copied.page.get_by_test_id("stCode").first).to_have_text(chosen)


def test_turns_are_bars_too(triage: Viewer) -> None:
    triage.page.get_by_text("Turns", exact=True).click()
    triage.address_has("axis", "Turns")
    triage.click_bar(1, of=10)
    triage.says("Call 3 of 20")


def test_a_dropped_file_is_listed_and_a_broken_one_says_why(view: Open, tmp_path: Path) -> None:
    good, broken = tmp_path / "dropped.json", tmp_path / "broken.jsonl"
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
    messages = [{"role": "user", "content": f"My key is {key}, is it safe?"}]
    good.write_text(json.dumps({"model": "gpt-4o", "messages": messages}), encoding="utf-8")
    broken.write_bytes(b"\x00\x01\x02 not a transcript")
    viewer = view("/")
    viewer.page.locator("input[type=file]").set_input_files([good, broken])
    viewer.says("1 transcript with 1 call, read as openai_chat.")
    viewer.says("Secrets masked before storing: openai-key in 2 places.")
    viewer.says("Nothing was stored.")
    expect(viewer.page.get_by_text("Traceback")).to_have_count(0)
    viewer.settle()
    viewer.go("/?search=dropped.json").says("1 transcript.")
    viewer.go("/?search=broken").says("No transcript has")


def test_a_transcript_is_renamed_and_deleted_from_its_menu(view: Open, tmp_path: Path) -> None:
    path = tmp_path / "short_lived.json"
    path.write_text(json.dumps([{"role": "user", "content": "a short life"}]), encoding="utf-8")
    viewer = view("/")
    viewer.page.locator("input[type=file]").set_input_files(path)
    viewer.says("1 transcript with 1 call")
    viewer.go("/?search=short_lived").says("1 transcript.")
    viewer.click_row("transcripts", 0, x=-28)
    viewer.page.get_by_text("Rename", exact=True).click()
    viewer.page.get_by_label("Title").fill("n" * 250)
    viewer.page.get_by_role("button", name="Save").click()
    viewer.says("The title has 250 characters, 50 more than the 200 that fit. Shorten it.")
    expect(viewer.page.get_by_label("Title")).to_have_value("n" * 250)
    viewer.page.get_by_label("Title").fill("a new name")
    viewer.page.get_by_role("button", name="Save").click()
    expect(viewer.page.get_by_role("dialog")).to_have_count(0)
    viewer.go("/?search=a+new+name").says("1 transcript.")
    viewer.click_row("transcripts", 0, x=-28)
    viewer.page.get_by_text("Delete", exact=True).click()
    viewer.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    viewer.says("No transcript has")


def test_what_compare_shows_is_what_production_sends(triage: Viewer, tmp_path: Path) -> None:
    viewer = triage.go(f"/compare?transcript={number_of(triage)}&call=15&compare_view=Requests")
    viewer.title("Compare on")
    shown = viewer.page.get_by_text(re.compile(r"^sha256 [0-9a-f]{64}$"))
    expect(shown).to_have_count(3)
    hashes = [text.split()[1] for text in shown.all_inner_texts()]
    transcript = read(TRIAGE).transcripts[0]
    for place, expected in enumerate(hashes):
        with viewer.page.expect_download() as download:
            viewer.page.get_by_role("button", name="Export JSON").nth(place).click()
        path = tmp_path / f"{place}.json"
        download.value.save_as(path)
        sent = ContextRuntime.load(path).assemble(transcript.history(14), transcript.calls[14].hints).request
        assert hashlib.sha256(dump(sent).encode()).hexdigest() == expected
    assert len(set(hashes)) == 3


def test_an_edited_configuration_is_in_the_link(triage: Viewer, view: Open) -> None:
    viewer = triage.go(f"/compare?transcript={number_of(triage)}")
    viewer.page.get_by_role("button", name="Edit").first.click()
    viewer.page.get_by_role("spinbutton", name="Keep the newest").fill("3")
    viewer.page.get_by_role("button", name="Apply").click()
    viewer.says("keep_last · 3 turns")
    viewer.address_has("a", '{"strategy":{"kind":"keep_last","keep_turns":3}}')
    viewer.settle()
    copied = view(viewer.page.url.removeprefix(viewer.address))
    copied.says("keep_last · 3 turns")


def test_a_saved_configuration_is_listed_with_its_snippet(triage: Viewer) -> None:
    viewer = triage.go(f"/compare?transcript={number_of(triage)}")
    viewer.page.get_by_role("button", name="Save").first.click()
    viewer.says("A new name among your configurations.")
    viewer.page.get_by_role("button", name="Save configuration").first.click()
    viewer.says("Saved as version 1 of keep_last · 2 turns.")
    viewer.settle()
    viewer.go("/configurations?config=keep_last+%C2%B7+2+turns")
    viewer.says("Measured on 1 transcript with 20 calls")
    viewer.says('ContextRuntime.load("keep-last-2-turns.json")')
    viewer.click_row("configs_", 1)
    viewer.says("4 golden calls to verify it with")
    viewer.address_has("config", "support triage, 5,000 tokens")
    viewer.settle()
    viewer.click_row("configs_", 0)
    viewer.address_has("config", "keep_last · 2 turns")
    viewer.says('ContextRuntime.load("keep-last-2-turns.json")')
    viewer.settle()
    viewer.page.get_by_role("button", name="Open in Compare").click()
    viewer.title("Compare on")
    viewer.says("full_history")


@pytest.mark.parametrize(
    ("path", "said"),
    [("/inspect/1", "Peak"), ("/compare/1/", "Export JSON"), ("/advise/x/y", "There is no transcript “x/y” here.")],
)
def test_an_address_below_a_page_shows_the_page(view: Open, path: str, said: str) -> None:
    viewer = view(path)
    viewer.says(said)
    assert viewer.page.url.startswith(f"{viewer.address}/{path.split('/')[1]}?transcript=")
