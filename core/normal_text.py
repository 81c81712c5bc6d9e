"""One spelling for texts that are compared: what a prompt says and what a response says must look alike.

Texts come as terminals, JSON and Markdown escaped them, so that `\\"`, `\\u00e9` and `is\\_open` hide what they hold.
Whatever is undone here is undone on both sides, so a doubtful case (is `\\n` a line's end, or the path `src\\new`?)
can only hide a match where the two sides were spelled differently. Windows paths with a drive are told apart first;
where their backslashes are doubled, a single one begins another escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .reference_words import CHOICE_KEYS, CONTROL_KEYS

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ESCAPE = r"\\{1,8}(?:u(?P<code>[0-9a-fA-F]{4})|(?P<blank>[nrt])|(?P<mark>[\"'`/#*]|_(?!_)))"
_ESCAPED = re.compile(_ESCAPE)
_IN_PATH = r"[^\s\"'`<>|*?,;\\]*"
_DRIVE = (
    r"[A-Za-z](?<![A-Za-z0-9_][A-Za-z]):"
    rf"(?:\\\\{_IN_PATH}(?:\\\\{_IN_PATH})*|\\(?!\\){_IN_PATH}(?:\\(?!\\){_IN_PATH})*)"
)
_WITH_DRIVES = re.compile(rf"(?P<path>{_DRIVE})|{_ESCAPE}")
_BACKSLASHES = re.compile(r"\\+")


def normal(text: str) -> str:
    """Return a text without terminal colours and with its escapes undone, as far as both are there."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if ":\\" in text:
        return _WITH_DRIVES.sub(_unescaped_beside_drives, text)
    return _ESCAPED.sub(_unescaped, text) if "\\" in text else text


def is_escaped(text: str) -> bool:
    """Return whether a text may be spelled otherwise than its normal form."""
    return "\\" in text or "\x1b" in text


def _unescaped_beside_drives(found: re.Match[str]) -> str:
    path = found["path"]
    return _unescaped(found) if path is None else path[0].lower() + _BACKSLASHES.sub("/", path[1:])


def _unescaped(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return chr(int(found["code"], 16))
    return "\n" if found["blank"] is not None else found["mark"]


def one_line(text: str) -> str:
    """Return a text with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


def arguments_text(arguments: str) -> str:
    """Return the normal text in a tool call's arguments, a line a leaf: strings and numbers that do not steer it."""
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        return normal(arguments)
    return "\n".join(normal(leaf) for leaf in _leaves(parsed))


def _leaves(value: Any, key: str = "") -> Iterator[str]:
    stack = [(value, key)]
    while stack:
        value, key = stack.pop()
        if isinstance(value, str):
            if key not in CHOICE_KEYS or " " in value:
                yield value
        elif isinstance(value, dict):
            stack += reversed([(inner, str(name)) for name, inner in value.items()])
        elif isinstance(value, list):
            stack += [(inner, key) for inner in reversed(value)]
        elif isinstance(value, int | float) and not isinstance(value, bool) and key not in CONTROL_KEYS:
            yield str(value)
