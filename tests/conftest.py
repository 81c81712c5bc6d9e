"""What all tests share: no test depends on a clock, so Hypothesis sets no deadline for an example."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.fixture(scope="session")
def transcripts_folder() -> Path:
    """Return the folder of real transcripts beside the project. It may be missing, but not under CI."""
    folder = Path(__file__).parents[2] / "shared" / "transcripts"
    if folder.is_dir():
        return folder
    reason = f"real transcripts are expected in {folder}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
