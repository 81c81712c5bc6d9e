"""How a command of this product runs and ends, whatever it does: `core` and `storage` have one each.

A reader that leaves early (`| head`, a pager that was closed) is no failure to tell of. The command then ends with the
code that a shell gives for it, which is none of the commands' own: 1 would say that something did not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .errors import PromptInspectorError

__all__ = ["CANNOT", "command_parser", "run"]

CANNOT = 2
"""The input cannot be used."""
STOPPED = 130
"""Ended by the keyboard: 128 and the number of the signal, as shells count."""
NOBODY_READS = 141
"""The output's reader has left: 128 and the number of SIGPIPE."""


def command_parser(name: str, described: str | None) -> argparse.ArgumentParser:
    """Return the parser of `python -m name`, described by the first line of a module's docstring."""
    return argparse.ArgumentParser(prog=f"python -m {name}", description=(described or "").partition("\n")[0])


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Run the command that the arguments name (its function is the option `run`) and return its exit code."""
    try:
        return _run(parser, arguments)
    except PromptInspectorError as error:
        print(error, file=sys.stderr)
        return CANNOT
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        _forget_output()
        return NOBODY_READS


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    try:
        options = parser.parse_args(arguments)
        code: int = options.run(options)
        return code
    finally:
        sys.stdout.flush()  # else a reader that left would be met only when Python ends


def _forget_output() -> None:
    """Send what is still to be written nowhere, so that Python does not complain of it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
