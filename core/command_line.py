"""How a command of this product runs and ends, whatever it does: `core` and `storage` have one each.

A reader that leaves early (`| head`, a pager that was closed) is no failure to tell of. The command then ends with the
code that a shell gives for it, which is none of the commands' own: 1 would say that something did not hold. An output
that takes no more, as on a full disk, is told, and has a code of its own for the same reason.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .command_input import input_kept
from .errors import PromptInspectorError
from .readers.source import reason_of

__all__ = ["CANNOT", "command_parser", "run"]

CANNOT = 2
"""The input cannot be used."""
UNWRITTEN = 3
"""The output cannot be written."""
STOPPED = 130
"""Ended by the keyboard: 128 and the number of the signal, as shells count."""
NOBODY_READS = 141
"""The output's reader has left: 128 and the number of SIGPIPE."""


def command_parser(name: str, described: str | None) -> argparse.ArgumentParser:
    """Return the parser of `python -m name`; a module's docstring gives its first line and its exit codes."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in (described or "").split("\n\n")]
    codes = next((paragraph for paragraph in paragraphs if paragraph.startswith("Exit codes: ")), None)
    return argparse.ArgumentParser(prog=f"python -m {name}", description=paragraphs[0], epilog=codes)


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Run the command that the arguments name (its function is the option `run`) and return its exit code."""
    if sys.stdout is None:
        return _unwritten("it is closed")
    try:
        return _run(parser, arguments)
    except PromptInspectorError as error:
        _say(str(error))
        return CANNOT
    except KeyboardInterrupt:
        _say("Stopped.")
        return STOPPED
    except BrokenPipeError:
        _forget_output()
        return NOBODY_READS
    except OSError as error:
        if error.filename is not None:
            raise  # it is about a file, not about an output, which is open and has no name
        _forget_output()
        return _unwritten(reason_of(error))


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    try:
        options = parser.parse_args(arguments)
        with input_kept(options):
            code: int = options.run(options)
        return code
    finally:
        sys.stdout.flush()  # else a reader that left would be met only when Python ends


def _unwritten(reason: str) -> int:
    _say(f"The output cannot be written ({reason}).")
    return UNWRITTEN


def _say(text: str) -> None:
    if sys.stderr is not None:  # None where it was closed before the start
        try:
            print(text, file=sys.stderr, flush=True)
        except OSError:
            _forget_output()


def _forget_output() -> None:
    """Send what is still to be written nowhere, so that Python does not complain of it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
