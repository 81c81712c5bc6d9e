"""Which engine made a figure that is kept: figures of another one are made anew.

A version number is raised by people and forgotten by people. So what is kept is kept under a hash of what figures
come from: this package's source, the tokenizer, and whether DeepSeek's vocabulary is there.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from . import ENGINE_VERSION
from .deepseek_vocabulary import has_deepseek

SOURCES = (".py", ".json")


@cache
def engine_fingerprint() -> str:
    """Return the engine's version with a hash of what its figures come from, 16 hex digits."""
    found = f"{sys.version_info[:2]} {version('tiktoken')} {has_deepseek()}"
    return f"{ENGINE_VERSION}+{source_hash(Path(__file__).parent, found)}"


def source_hash(folder: Path, more: str = "") -> str:
    """Return a hash of the source in a folder by place and content, and of some more text; 16 hex digits."""
    made = hashlib.blake2b(more.encode(), digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES):
        made.update(f"\n{path.relative_to(folder).as_posix()}\n".encode())
        made.update(path.read_bytes())
    return made.hexdigest()
