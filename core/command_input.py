"""The files that a command's arguments name, among them the standard input, which is written `-`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .errors import PromptInspectorError
from .readers.read_once import copied
from .readers.source import reason_of

__all__ = ["file_path", "input_kept"]

STANDARD_INPUT = Path("standard input")
"""What stands for `-` until it is read: this very object, not any file of that name."""


def file_path(text: str) -> Path:
    """Return the path that an argument names; `-` is the standard input."""
    return STANDARD_INPUT if text == "-" else Path(text)


@contextmanager
def input_kept(options: argparse.Namespace) -> Iterator[None]:
    """Put a file with the standard input in the place of `-`, for as long as it is needed."""
    asked = sum(path is STANDARD_INPUT for value in vars(options).values() for path in _each(value))
    if asked > 1:
        raise PromptInspectorError("The standard input is one file; give `-` once.")
    if not asked:
        yield
        return
    if sys.stdin is None:
        raise PromptInspectorError("The standard input is closed; give the path of a file instead of `-`.")
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(copied(sys.stdin.buffer, STANDARD_INPUT.name))
        except OSError as error:
            raise PromptInspectorError(
                f"The standard input could not be kept while it is read ({reason_of(error)}); give the path of a file."
            ) from None
        for name, value in list(vars(options).items()):
            put = [copy if path is STANDARD_INPUT else path for path in _each(value)]
            setattr(options, name, put if isinstance(value, list) else put[0])
        yield


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
