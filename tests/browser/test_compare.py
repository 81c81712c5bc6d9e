"""What only a browser shows of Compare: that all configurations stand side by side, and where its links lead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.driver import Viewer
from tests.browser.test_advise import number_of

Open = Callable[..., Viewer]

FOUR: list[dict[str, Any]] = [
    {"kind": "keep_last", "keep_steps": 8, "step": 4000},
    {"kind": "mask_tool_results"},
    {"kind": "summarize_and_keep", "keep_steps": 8, "min_turns": 0, "min_steps": 0},
    {"kind": "tiered_injection", "keep_steps": 8},
]
HIDDEN = """() => [...document.querySelectorAll('[data-testid=stDataFrame] .dvn-scroller')]
    .map(table => table.scrollWidth - table.clientWidth)"""


def compared(view: Open, source: str, names: list[str], **window: Any) -> Viewer:
    """Open Compare with four configurations on a sample."""
    slots = {
        slot: json.dumps({"strategy": strategy} | ({"name": name} if name else {}))
        for slot, strategy, name in zip("abcd", FOUR, names, strict=True)
    }
    address = {"transcript": number_of(view, source), "budget": "30000", "call": "55", **slots}
    viewer = view(f"/compare?{urlencode(address)}", **window)
    viewer.chart()
    viewer.says("hidden: what all configurations treat alike.")
    viewer.settle()
    return viewer


LONG = [f"the support bot of the northern region in production, variant {number}" for number in range(4)]


@pytest.mark.parametrize("names", [[""] * 4, LONG], ids=["short", "long"])
def test_four_configurations_stand_side_by_side_on_a_small_screen(view: Open, names: list[str]) -> None:
    viewer = compared(view, "coding_agent", names, width=1280)
    assert viewer.page.evaluate(HIDDEN) == [0, 0]


def test_a_finding_of_a_configuration_leads_to_its_call(view: Open) -> None:
    viewer = compared(view, "coding_agent", [""] * 4)
    viewer.page.get_by_text("Findings, with the calls they are about").click()
    of_each = viewer.page.locator(".st-key-findings_of_each")
    of_each.get_by_text("summarize_and_keep · 8 steps").click()
    viewer.says("Prefix broken The strategy breaks the cached prefix in 36 of 36 calls from call 26 on")
    viewer.settle()
    ways = viewer.page.get_by_test_id("stExpander").get_by_role("button", name=re.compile(r"Call \d+$"))
    expect(ways).to_have_text([re.compile("Call 26$"), re.compile("Call 25$"), re.compile("Call 34$")])
    ways.first.click()
    viewer.page.wait_for_url("**/inspect?*")
    viewer.says("Call 26 of 61")
    viewer.address_has("call", "26")


def test_what_is_set_in_the_form_is_kept_until_it_is_applied_or_cancelled(view: Open) -> None:
    viewer = view(f"/compare?transcript={number_of(view, 'support_triage')}", width=1280)
    page = viewer.page
    body, kind = page.get_by_test_id("stPopoverBody"), page.get_by_test_id("stPopoverBody").get_by_role("combobox")

    def open_form() -> None:
        page.get_by_role("button", name="Edit").first.click()
        expect(kind.first).to_be_visible()
        viewer.settle()

    def click_beside() -> None:
        page.get_by_role("heading", level=1).click()
        expect(body).to_have_count(0)
        viewer.settle()

    def choose_masking() -> None:
        kind.first.click()
        page.get_by_role("option", name="mask_tool_results").click()
        viewer.says("Old tool results become placeholders")
        viewer.settle()
        body.get_by_role("spinbutton", name="Keep", exact=True).fill("3")
        click_beside()

    open_form()
    body.get_by_role("spinbutton", name="Cut in steps of, tokens", exact=True).fill("700")
    click_beside()
    open_form()
    expect(body.get_by_role("spinbutton", name="Cut in steps of, tokens", exact=True)).to_have_value("700")
    choose_masking()
    viewer.says("mask_tool_results is chosen, not applied yet.")
    open_form()
    expect(kind.first).to_have_value("mask_tool_results")
    expect(body.get_by_role("spinbutton", name="Keep", exact=True)).to_have_value("3")
    body.get_by_role("button", name="Cancel").click()
    expect(body).to_have_count(0)
    expect(page.get_by_text("not applied yet")).to_have_count(0)
    viewer.settle()
    open_form()
    expect(kind.first).to_have_value("keep_last")
    expect(body.get_by_role("spinbutton", name="Cut in steps of, tokens", exact=True)).to_have_value("0")
    choose_masking()
    open_form()
    body.get_by_role("button", name="Apply").click()
    viewer.address_has("a", '{"strategy":{"kind":"mask_tool_results","keep":3}}')
    expect(page.get_by_text("not applied yet")).to_have_count(0)
    viewer.settle()


def test_a_limit_goes_along_and_few_steps_lead_back(view: Open) -> None:
    """Every parameter written is a step of the browser's history; a page may not be left only after many."""
    number = number_of(view, "support_triage")
    viewer = view(f"/inspect?transcript={number}&soft=6000")
    viewer.page.get_by_role("link", name="Compare").click()
    viewer.title("Compare on")
    viewer.address_has("budget", "6000")
    limit = viewer.page.get_by_label("Soft limit, tokens").first
    limit.fill("3000")
    limit.press("Enter")
    viewer.address_has("budget", "3000")
    viewer.settle()
    viewer.page.get_by_role("link", name="Advise").click()
    viewer.title("Advice on")
    viewer.address_has("soft", "3000")
    expect(viewer.page.get_by_label("Soft limit, tokens").first).to_have_value("3000")
    steps = 0
    while "/inspect" not in viewer.page.url:
        viewer.page.go_back()
        viewer.settle()
        steps += 1
        assert steps < 7
