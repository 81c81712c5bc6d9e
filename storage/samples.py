"""The samples that a new database starts with.

Each file is loaded once and noted in the database, so a sample that somebody deletes stays deleted, and one that
comes with a later version is added then. A sample that cannot be read is logged and tried again at the next start;
it never keeps the app from starting.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from sqlalchemy import select

from core.errors import ConfigError
from core.readers import read

from .database import reading
from .library import Library
from .records import insert_new
from .schema import FlagRow

__all__ = ["FOLDER", "load_samples"]

FOLDER = Path(__file__).resolve().parent.parent / "sample_data"
ENDINGS = frozenset({".json", ".jsonl"})
SOURCE = "sample"
TITLES = {
    "coding_agent": "Coding agent: Chinese headings in system prompts",
    "long_chat": "Long chat: moving house from Cologne to Ghent",
    "operations_zh": "运维代理：order-api 延迟告警",
    "support_triage": "Support triage: a tent, two orders, five tools",
}
"""What the samples are called; a transcript's own title are its first words."""

log = logging.getLogger(__name__)


def load_samples(library: Library, folder: Path = FOLDER) -> int:
    """Load the sample files that this database has never had, and return their number."""
    loaded = 0
    for path in sorted(folder.glob("*")):
        if path.suffix in ENDINGS and not _is_noted(library, path.name) and _load(library, path):
            _note(library, path.name)
            loaded += 1
    return loaded


def _load(library: Library, path: Path) -> bool:
    """Load a file: an exported configuration, or transcripts. Return whether it could be read."""
    try:
        configuration = _configuration(path)
        if configuration is not None:
            library.configs.save(configuration.get("name") or path.stem, configuration, note=SOURCE)
            return True
    except ConfigError as error:
        log.warning("The sample %s was not loaded: %s", path.name, error)
        return False
    result = read(path)
    for problem in result.problems:
        log.warning("Sample %s", problem)
    for transcript in result.transcripts:
        added = library.add(transcript).id
        library.tag(added, [SOURCE])
        if path.stem in TITLES and len(result.transcripts) == 1:
            library.rename(added, TITLES[path.stem])
    return bool(result.transcripts)


def _configuration(path: Path) -> dict[str, Any] | None:
    """Return what a file holds if it is a configuration."""
    if path.suffix != ".json":
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) and "strategy" in value else None


def _is_noted(library: Library, name: str) -> bool:
    with reading(library.engine) as connection:
        query = select(FlagRow.name).where(FlagRow.name == f"{SOURCE}:{name}")
        return connection.execute(query).first() is not None


def _note(library: Library, name: str) -> None:
    with library.writer.transaction() as connection:
        connection.execute(insert_new(connection, FlagRow), {"name": f"{SOURCE}:{name}", "value": "loaded"})
