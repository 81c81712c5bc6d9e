"""A memo of as many values as are allowed, from which the oldest go, for several threads at a time.

Pages of several people ask one transcript at a time. A value that two of them make at once is made twice, and the
first one stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The values of the newest keys."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._known: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not known."""
        try:
            return self._known[key]
        except KeyError:
            made = make()
        with self._lock:
            while key not in self._known and len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            return self._known.setdefault(key, made)

    def keep(self, keys: Collection[Key]) -> None:
        """Forget all but these keys."""
        with self._lock:
            self._known = {key: value for key, value in self._known.items() if key in keys}

    def __iter__(self) -> Iterator[Key]:
        """Yield the keys, the oldest first."""
        return iter(list(self._known))

    def __len__(self) -> int:
        """Return how many values are known."""
        return len(self._known)
