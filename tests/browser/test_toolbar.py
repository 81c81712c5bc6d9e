"""What a chart shows above itself while the mouse is over it covers nothing that can be clicked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.driver import Viewer
from tests.browser.test_advise import number_of

Open = Callable[..., Viewer]
INSET = 4
"""Pixels of the toolbar's box round what is seen of it, which take no click."""


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.parametrize("name", ["coding_agent", "support_triage"])
@pytest.mark.parametrize("path", ["inspect", "compare"])
def test_the_toolbar_of_a_chart_leaves_the_control_above_it_free(view: Open, path: str, name: str, width: int) -> None:
    viewer = view(f"/{path}?transcript={number_of(view, name)}", width=width)
    viewer.chart().hover()
    toolbar = (
        viewer.page.get_by_test_id("stFullScreenFrame").filter(has=viewer.chart()).get_by_test_id("stElementToolbar")
    )
    control = viewer.page.get_by_test_id("stButtonGroup").filter(has_text="Turns")
    above, below = control.bounding_box(), toolbar.first.bounding_box()
    assert above is not None and below is not None
    assert above["y"] + above["height"] <= below["y"] + INSET
