"""Counts the tokens of one text with a tiktoken encoding, whatever its length and content.

Special-token text counts as plain text, and a lone surrogate as tiktoken replaces it. A long text is counted in parts,
so that its tokens are never all held at once.
"""

from __future__ import annotations

import re

import tiktoken

from .cuts import parts
from .deepseek_vocabulary import DEEPSEEK, is_split_off

__all__ = ["count_exactly"]

_PART = 250_000
_RUN_LIMIT = 100_000
_BLANKS = "\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
# The white space after the last line break of a long run: tiktoken's, which is not quite Python's.
_LONG_RUN = re.compile(f"(?<![{_BLANKS}])[{_BLANKS}]{{{_RUN_LIMIT},}}+(?![\\r\\n])")
# Its pattern takes white space at the end of a text as one piece, line breaks included, and does not overflow there.
_TAKES_TRAILING_SPACE_WHOLE = frozenset({"cl100k_base"})


def count_exactly(encoder: tiktoken.Encoding, text: str) -> int:
    """Return the tokens that an encoding makes of a text. Never raises, whatever the text holds."""
    return sum(_count_part(encoder, part) for part in parts(text, _PART))


def _count_part(encoder: tiktoken.Encoding, text: str) -> int:
    """Count exactly, keeping long runs of white space away from tiktoken's pattern.

    A run of about a million characters overflows the pattern's stack, which ends in a Rust panic. Of such a run the
    pattern makes one piece, less its last character where text follows that it does not split off before; so that
    piece is encoded as it is.
    """
    tokens = start = 0
    for run in _LONG_RUN.finditer(text) if len(text) >= _RUN_LIMIT else ():
        ends = run.end() == len(text)
        if ends and encoder.name in _TAKES_TRAILING_SPACE_WHOLE:
            break
        whole = ends or (encoder.name == DEEPSEEK and is_split_off(text[run.end()]))
        stop = run.end() if whole else run.end() - 1
        tokens += len(encoder.encode_ordinary(text[start : run.start()]))
        tokens += len(encoder._encode_single_piece(text[run.start() : stop]))
        start = stop
    return tokens + len(encoder.encode_ordinary(text[start:]))
