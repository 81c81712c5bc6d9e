"""The table of spans in Compare: reasons can be read whole, however many configurations stand side by side."""

from __future__ import annotations

import pytest

from pages.parts.compare_detail import row_height
from pages.parts.texts import LONGEST_NARROW_NAME, cut_name


@pytest.mark.parametrize(("configurations", "height"), [(1, None), (2, None), (3, 66), (4, 84)])
def test_reasons_wrap_where_columns_are_too_narrow_for_one_line(configurations: int, height: int | None) -> None:
    assert row_height(configurations) == height


@pytest.mark.parametrize("name", ["summarize_and_keep · 12 turns", "mask_tool_results · 5 results"])
def test_a_strategy_with_what_it_keeps_is_whole_in_a_narrow_head(name: str) -> None:
    assert cut_name(name, LONGEST_NARROW_NAME) == name
