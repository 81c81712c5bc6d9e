"""The classes of references, counted apart.

Identifiers of libraries stay in, as a class of their own: nothing in a text tells `Index.get_indexer` of a library
from that of a project.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ReferenceClass(StrEnum):
    """What a reference is, in the order in which classes claim a stretch of text."""

    URL = "url"
    EMAIL = "email"
    UUID = "uuid"
    DATE = "date"
    PATH = "path"
    HASH = "hash"
    ERROR = "error"
    ID = "id"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    QUOTED = "quoted"
    CJK = "cjk"


class Reference(NamedTuple):
    """Something definite that a text names. `forms` are its spellings to look for, the whole first, then parts."""

    kind: ReferenceClass
    forms: tuple[str, ...]

    @property
    def key(self) -> str:
        """The whole."""
        return self.forms[0]
