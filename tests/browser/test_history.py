"""What only a browser shows of its history: each page that was opened is one step back, and is as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.driver import Viewer
from tests.browser.test_advise import number_of

Open = Callable[..., Viewer]

TITLES = {
    "Compare": "Compare on",
    "Advise": "Advice on",
    "Configurations": "Configurations",
    "Library": "Library",
}


def address_of(viewer: Viewer) -> dict[str, list[str]]:
    return parse_qs(urlsplit(viewer.page.url).query)


def test_each_page_is_one_step_back_and_one_step_forward(view: Open) -> None:
    viewer = view(f"/inspect?transcript={number_of(view, 'support_triage')}")
    viewer.title("Support triage")
    seen, start = [("Support triage", viewer.page.url)], viewer.page.evaluate("history.length")
    for name, title in TITLES.items():
        viewer.page.get_by_role("link", name=name).first.click()
        viewer.title(title)
        seen.append((title, viewer.page.url))
    assert viewer.page.evaluate("history.length") == start + len(TITLES)
    for title, url in seen[-2::-1]:
        viewer.page.go_back()
        viewer.title(title)
        assert viewer.page.url == url
    for title, url in seen[1:]:
        viewer.page.go_forward()
        viewer.title(title)
        assert viewer.page.url == url


def test_back_leads_from_a_transcript_to_the_search_that_found_it(view: Open) -> None:
    viewer = view("/?search=support_triage")
    viewer.click_row("transcripts", 0, x=200)
    viewer.page.wait_for_url("**/inspect?transcript=*")
    viewer.title("Support triage")
    viewer.page.go_back()
    viewer.title("Library")
    assert address_of(viewer) == {"search": ["support_triage"]}
    viewer.says("1 transcript. Click one to open it.")


def test_back_leads_to_the_settings_that_pages_share(view: Open) -> None:
    number = number_of(view, "support_triage")
    viewer = view(f"/inspect?transcript={number}&soft=5000&call=7&window=64000")
    viewer.says("Call 7 of 20")
    viewer.page.get_by_role("button", name="Compare").click()
    viewer.title("Compare on")
    viewer.address_has("budget", "5000")
    viewer.settle()
    compared = viewer.page.url
    viewer.page.get_by_role("link", name="Advise").click()
    viewer.title("Advice on")
    viewer.page.go_back()
    viewer.title("Compare on")
    assert viewer.page.url == compared
    viewer.page.go_back()
    viewer.title("Support triage")
    viewer.says("Call 7 of 20")
    viewer.address_has("call", "7")
    viewer.settle()
    said = {"transcript": [number], "soft": ["5000"], "call": ["7"], "window": ["64000"]}
    assert address_of(viewer) == said
    expect(viewer.page.get_by_label("Soft limit, tokens")).to_have_value("5000")


def test_what_is_set_on_a_page_is_no_step_of_its_own(view: Open) -> None:
    viewer = view(f"/compare?transcript={number_of(view, 'support_triage')}")
    viewer.chart()
    viewer.settle()
    start = viewer.page.evaluate("history.length")
    viewer.page.get_by_role("button", name="Add").click()
    viewer.says("full_history")
    viewer.settle()
    viewer.page.get_by_role("button", name="Page 1", exact=True).click()
    viewer.says("Call 1 of 20")
    viewer.settle()
    assert viewer.page.evaluate("history.length") == start


def test_a_saved_configuration_is_there_again_after_a_look_at_compare(view: Open, tmp_path: Path) -> None:
    viewer = view("/configurations")
    path = tmp_path / "of_history.json"
    path.write_text(json.dumps({"name": "of history", "strategy": {"kind": "keep_last"}}), encoding="utf-8")
    viewer.page.get_by_role("button", name="Import").click()
    viewer.page.locator("input[type=file]").set_input_files(path)
    viewer.page.get_by_test_id("stPopoverBody").get_by_role("button", name="Import").click()
    viewer.says("Imported as version 1 of of history.")
    viewer.settle()
    viewer.go("/configurations?config=support+triage%2C+5%2C000+tokens")
    viewer.says("4 golden calls to verify it with")
    viewer.page.get_by_role("button", name="Open in Compare").click()
    viewer.title("Compare on")
    viewer.page.go_back()
    viewer.title("Configurations")
    viewer.says("4 golden calls to verify it with")
    assert address_of(viewer) == {"config": ["support triage, 5,000 tokens"]}
    viewer.go("/configurations?config=of+history")
    viewer.page.get_by_role("button", name="Delete").click()
    viewer.page.get_by_role("button", name="Delete all versions").click()
    expect(viewer.page.get_by_role("heading", name="of history")).to_have_count(0)
