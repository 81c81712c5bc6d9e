"""The encodings that texts can be counted with, by name: the bundled ones, and DeepSeek's where its extra is there."""

from __future__ import annotations

import tiktoken

from . import vocabularies
from .deepseek_vocabulary import DEEPSEEK, deepseek_encoding, has_deepseek

__all__ = ["encoding", "require_encoding"]


def require_encoding(name: str) -> str:
    """Return the name of an encoding that can be loaded. ConfigError for any other, or where its extra is missing."""
    if name != DEEPSEEK:
        return vocabularies.require_encoding(name)
    if not has_deepseek():
        deepseek_encoding()  # says what is missing
    return name


def encoding(name: str) -> tiktoken.Encoding:
    """Return a tiktoken encoding by its name, without a network. ConfigError if there is none of this name."""
    return deepseek_encoding() if name == DEEPSEEK else vocabularies.encoding(name)
