"""Work counted instead of time: the calls of functions are the same on any machine, however busy it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from core.readers import ReadResult, read

ANY, A_BYTE = 50_000, 60
"""Calls that reading any file may take, and those for each byte of it: several times what files of any kind need."""


class TooMuchWork(BaseException):
    """More calls than allowed. No ordinary exception, so that what guards against faults does not take it for one."""


class Work:
    """The calls counted so far."""

    def __init__(self, most: int | None = None) -> None:
        self.calls = 0
        self.most = most

    def count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call of a function, in Python or in C; TooMuchWork beyond the most that is allowed."""
        if event in ("call", "c_call"):
            self.calls += 1
            if self.most is not None and self.calls > self.most:
                sys.setprofile(None)
                raise TooMuchWork(f"more than {self.most:,} calls of functions")


@contextmanager
def counted_work(most: int | None = None) -> Iterator[Work]:
    """Count the calls made inside, and end what takes more than `most` of them."""
    work, before = Work(most), sys.getprofile()
    sys.setprofile(work.count)
    try:
        yield work
    finally:
        sys.setprofile(before)


def read_in_bounds(content: bytes, name: str | None = None) -> ReadResult:
    """Read a file with no more work than its size allows, so that neither endless nor quadratic reading passes."""
    with counted_work(ANY + A_BYTE * len(content)):
        return read(content, name)
