"""What a server does before anybody asks: opening the database, and loading what every page draws with."""

from __future__ import annotations

import importlib
import logging

from . import library
from .errors import StorageError

DRAWING = ("pandas", "altair")

log = logging.getLogger(__name__)


def get_ready() -> None:
    """Open the library, so that the first page need not wait. A database that cannot be opened is told on the page."""
    try:
        library()
    except StorageError as error:
        log.warning("%s", error)
    for name in DRAWING:
        importlib.import_module(name)
