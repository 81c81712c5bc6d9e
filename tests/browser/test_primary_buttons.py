"""Every primary button can be read, in both themes: its text against the colour that it stands on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.driver import Viewer
from tests.browser.test_advise import number_of

Open = Callable[..., Viewer]
READABLE = 4.5
"""The least contrast of text, by WCAG."""
_COLOURS = """button => {
    const text = button.querySelector('p') || button;
    return [getComputedStyle(text).color, getComputedStyle(button).backgroundColor].map(
        colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number));
}"""


def luminance(colour: list[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: list[float], second: list[float]) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("path", "opener", "label"),
    [
        ("/compare?transcript={number}", "Edit", "Apply"),
        ("/advise?soft=30000&transcript={number}", None, "Use this"),
        ("/configurations", None, "Download"),
        ("/configurations", "Delete", "Delete all versions"),
    ],
)
def test_the_text_of_a_primary_button_can_be_read(
    view: Open, path: str, opener: str | None, label: str, dark: bool
) -> None:
    viewer = view(path.format(number=number_of(view, "coding_agent")), dark=dark, width=1280)
    if opener:
        viewer.page.get_by_role("button", name=opener).first.click()
    button = viewer.page.get_by_role("button", name=label).and_(
        viewer.page.locator("[data-testid^=stBaseButton-primary]")
    )
    button.first.wait_for(state="visible")
    viewer.settle()
    text, ground = button.first.evaluate(_COLOURS)
    assert contrast(text, ground) >= READABLE
