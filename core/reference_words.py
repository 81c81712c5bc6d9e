"""Words that look like a reference and are none, and words that make one: lists kept beside the code.

Precision matters more than volume: what everybody knows without the prompt (a language's own names, brands, pairs as
`and/or`) is no sign that a response used its context.
"""

from __future__ import annotations

import json
from pathlib import Path

_LISTS: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(" ".join(_LISTS[name]).split())


EXTENSIONS = _words("extensions")
"""Endings by which a name is a file."""
DOUBTFUL_ENDINGS = _words("doubtful_endings")
"""Endings that the last name of a dotted name may have as well."""
BARE_FILES = _words("bare_files")
COMMON_PATHS = _words("common_paths")
ROOTS = _words("roots")
"""First parts that make a path of two plain words."""
PAIRS = _words("pairs")
"""Two words with a slash between them that are a choice and no path."""
MIME_TYPES = _words("mime_types")
STANDARD_ROOTS = _words("standard_roots")
"""Names under which a language's own library stands."""
OWNERS = _words("owners")
"""First parts of a dotted name that name nothing."""
BUILTINS = _words("builtins")
BRANDS = _words("brands")
COMMON_CODES = _words("common_codes")
"""Words of capitals and digits that are no id."""
DOMAINS = _words("domains")
"""Last parts by which a dotted lower-case name is a host."""
CONTROL_KEYS = _words("control_keys")
"""Arguments whose numbers steer a tool and name nothing."""
CHOICE_KEYS = _words("choice_keys")
"""Arguments whose single words are a choice that the tool's schema offers."""
UNITS = {name: names.split()[0] for names in _LISTS["units"] for name in names.split()}
"""Units by their spellings."""
MONEY = _words("money")
