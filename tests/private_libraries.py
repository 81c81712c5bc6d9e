"""Libraries that keep what was said and libraries that do not, for tests of what both have to tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.redact import SECRETS_ONLY, Privacy
from storage.database import open_engine
from storage.library import Library


@pytest.fixture(params=[SECRETS_ONLY, Privacy(content=True)], ids=["whole", "without content"])
def privacy(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def library(privacy: Privacy, tmp_path: Path) -> Iterator[Library]:
    opened = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"), privacy)
    yield opened
    opened.engine.dispose()
