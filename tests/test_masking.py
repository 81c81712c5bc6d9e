"""Masking a resent request gives what masking it anew gives, keys and counts included."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers.builder import exact_keys
from core.redact import mask
from storage import masking
from storage.masking import RequestMasker

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
MESSAGES = st.sampled_from(
    [
        {"role": "user", "content": "a question that is long enough"},
        {"role": "user", "content": f"a question with {SECRET} in it"},
        {"role": "user", "content": [{"type": "text", "text": f"{SECRET} {SECRET}"}]},
        {"role": "assistant", "content": None},
        "no message at all, but long enough",
        None,
    ]
)


@given(st.lists(st.lists(MESSAGES, max_size=5), max_size=4), st.booleans())
def test_a_resent_request_is_masked_as_a_new_one(requests: list[list[Any]], leaky_head: bool) -> None:
    masker = RequestMasker()
    for messages in requests:
        request = {"model": "m", "messages": messages, "metadata": {"note": SECRET if leaky_head else "none"}}
        masked, anew = masker.mask(request), mask(request)
        assert masked.request == anew.value
        assert list(masked.request) == list(request)
        assert masked.found == anew.found
        assert masked.keys == exact_keys(masked.request["messages"])


@pytest.mark.parametrize("request_body", [None, "x" * 20, [SECRET], {"messages": SECRET}, {"prompt": SECRET}])
def test_what_is_no_request_is_masked_all_the_same(request_body: Any) -> None:
    masked = RequestMasker().mask(request_body)
    assert (masked.request, masked.found, masked.keys) == (mask(request_body).value, mask(request_body).found, [])


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "MOST_KNOWN", 3)
    masker = RequestMasker()
    for number in range(10):
        masker.mask({"messages": [{"role": "user", "content": f"message {number}, long enough"}]})
        assert len(masker._clean) <= 3
