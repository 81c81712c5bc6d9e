"""Looking for secrets takes time in proportion to the text, whatever stands in it.

The work is done inside regular expressions, where no calls can be counted, so processor time is compared with itself:
the texts are large, so that what grows with their square would take minutes.
"""

from __future__ import annotations

import time

import pytest

from core.redact import mask

RUN = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2"


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + RUN,
        "sk-", "sk-a", "sk-ant-", "eyJ", "eyJaaaaaaaaaa.", "://a:", "://a:@", "Bearer ", "Bearer a", "api-key: ",
        "AKIA", ":AA1", "hooks.slack.com/services/T0000000/", "- ", "\n", "a", "a ", "<", "secret_access_key=",
        "api_key=", 'api_key: "', "api_key: \\\\", "api_key=a", "access_token=access_token1", "authorization: token ",
        'api_key="\\/',
    ],
)  # fmt: skip
def test_time_is_linear_on_any_text(unit: str) -> None:
    """Twice the text must not take four times as long."""
    text = unit * (1_000_000 // len(unit))

    def seconds(value: str) -> float:
        start = time.process_time()
        mask(value)
        return time.process_time() - start

    once, twice = min(seconds(text) for _ in range(3)), min(seconds(text + text) for _ in range(3))
    print(f"\n{unit[:20]!r:24s} {once:.3f} s, twice the text {twice:.3f} s")
    assert twice < 3 * once + 0.05
