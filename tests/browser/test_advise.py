"""What only a browser shows of Advise: that it is drawn in both themes, and where its ways lead."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.driver import Viewer

Open = Callable[..., Viewer]


def number_of(view: Open, source: str) -> str:
    """Return the number of a sample in the library."""
    viewer = view(f"/?search={source}")
    viewer.says("1 transcript.")
    viewer.click_row("transcripts", 0, x=200)
    viewer.page.wait_for_url("**/inspect?transcript=*")
    return parse_qs(urlsplit(viewer.page.url).query)["transcript"][0]


@pytest.mark.parametrize(("dark", "width"), [(False, 1440), (True, 1280)], ids=["light", "dark"])
def test_the_tree_is_drawn_and_nothing_is_cut_off(view: Open, dark: bool, width: int) -> None:
    number = number_of(view, "coding_agent")
    viewer = view(f"/advise?transcript={number}&soft=30000", dark=dark, width=width)
    viewer.says("Make tool results smaller")
    cards = viewer.page.get_by_role("listitem").filter(has_text="taken")
    expect(cards).to_have_count(1)
    expect(viewer.page.get_by_role("listitem").filter(has_text="Do tool results cover it?")).to_be_visible()
    wider = viewer.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0


def test_the_ways_lead_to_compare_and_to_the_call(view: Open) -> None:
    number = number_of(view, "coding_agent")
    viewer = view(f"/advise?transcript={number}&soft=30000")
    viewer.page.get_by_role("button", name="Call 61").first.click()
    viewer.page.wait_for_url("**/inspect?*")
    viewer.says("Call 61 of 61")
    viewer.page.get_by_role("button", name="Page 1", exact=True).click()
    viewer.says("Call 1 of 61")
    viewer.settle()
    viewer.page.get_by_role("link", name="Advise").click()
    viewer.title("Advice on")
    viewer.page.get_by_role("button", name="Call 61").first.click()
    viewer.says("Call 61 of 61")
    viewer.settle()
    viewer.go(f"/advise?transcript={number}&soft=30000")
    viewer.page.get_by_role("button", name="Use this").click()
    viewer.page.wait_for_url("**/compare?*")
    viewer.says("Advice 3A")
    viewer.settle()
    address = parse_qs(urlsplit(viewer.page.url).query)
    assert json.loads(address["a"][0])["strategy"]["kind"] == "mask_tool_results"
    assert address["budget"] == ["30000"]


@pytest.mark.parametrize("way", ["Use this", "Compare"], ids=["advice", "preset"])
def test_the_way_back_from_compare_leads_to_advise_as_it_was(view: Open, way: str) -> None:
    number = number_of(view, "coding_agent")
    viewer = view(f"/advise?transcript={number}&soft=30000&advice_call=50&exact_strings=true")
    viewer.says("Make tool results smaller")
    viewer.page.get_by_role("button", name=way).first.click()
    viewer.page.wait_for_url("**/compare?*")
    viewer.title("Compare on")
    viewer.page.go_back()
    viewer.title("Advice on")
    viewer.address_has("soft", "30000")
    viewer.says("Make tool results smaller")
    expect(viewer.page.get_by_label("Soft limit, tokens")).to_have_value("30000")
    expect(viewer.page.get_by_label("Call, of 61")).to_have_value("50")
    viewer.settle()
    address = parse_qs(urlsplit(viewer.page.url).query)
    assert address == {"transcript": [number], "soft": ["30000"], "advice_call": ["50"], "exact_strings": ["true"]}


def test_the_comparison_before_use_this_can_be_brought_back(view: Open) -> None:
    number = number_of(view, "coding_agent")
    viewer = view(f"/compare?transcript={number}&budget=7000")
    viewer.title("Compare on")
    viewer.settle()
    before = parse_qs(urlsplit(viewer.page.url).query)
    viewer.page.get_by_role("link", name="Advise").click()
    viewer.title("Advice on")
    viewer.page.get_by_label("Soft limit").fill("30000")
    viewer.page.get_by_label("Soft limit").press("Enter")
    viewer.page.get_by_role("button", name="Use this").click()
    viewer.says("Advice 3A")
    viewer.address_has("budget", "30000")
    viewer.page.get_by_role("button", name="Previous", exact=True).click()
    viewer.address_has("budget", "7000")
    viewer.page.get_by_text("Advice 3A").first.wait_for(state="detached")
    viewer.settle()
    assert parse_qs(urlsplit(viewer.page.url).query) == before
