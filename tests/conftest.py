"""What all tests share: no test depends on a clock, so Hypothesis sets no deadline for an example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")
