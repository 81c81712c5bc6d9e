"""What only a browser shows of Configurations: what a deletion leaves open."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.driver import Viewer
from tests.browser.test_advise import number_of

Open = Callable[..., Viewer]


def test_a_second_click_deletes_no_other_configuration(view: Open) -> None:
    viewer = view(f"/compare?transcript={number_of(view, 'support_triage')}")
    viewer.page.get_by_role("button", name="Save").first.click()
    viewer.page.get_by_role("button", name="Save configuration").click()
    viewer.says("Saved as version 1")
    viewer.go("/configurations")
    viewer.page.get_by_role("button", name="Delete").click()
    viewer.page.get_by_role("button", name="Delete all versions").click()
    viewer.says("were deleted.")
    expect(viewer.page.get_by_role("button", name="Delete all versions")).to_have_count(0)
    expect(viewer.page.get_by_role("heading", name="support triage, 5,000 tokens")).to_be_visible()
