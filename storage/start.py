"""What a server does before anybody asks: look at its settings, open the database, load what every page draws with."""

from __future__ import annotations

import importlib
import logging

from . import library
from .capture_limit import limit_fault
from .errors import StorageError

DRAWING = ("pandas", "altair")

log = logging.getLogger(__name__)


def get_ready() -> None:
    """Open the library, so that the first page need not wait. A database that cannot be opened is told on the page."""
    fault = limit_fault()
    if fault:
        log.warning("%s", fault)
    try:
        library()
    except StorageError as error:
        log.warning("%s", error)
    for name in DRAWING:
        importlib.import_module(name)
