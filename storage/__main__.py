"""The command line of the library: `python -m storage import PATH...`.

Exit codes: 0 all files gave transcripts, 1 some gave none, 2 nothing could be done, 3 the output cannot be written.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.command_input import file_path
from core.command_line import CANNOT, command_parser, run
from core.readers import format_names
from core.redact import Privacy
from core.wording import agreeing, counted

from . import Library, library
from .importing import ImportedFile, Importing, import_path
from .progress_bar import ProgressBar

MOST_SENTENCES = 10
"""Problems shown of one file, unless all are asked for."""
COLUMNS = ("file", "format", "transcripts", "new", "calls", "messages", "problems")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("storage", __doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    imports = commands.add_parser("import", help="store the transcripts of files, folders and archives (ZIP, tar)")
    imports.add_argument("paths", nargs="+", type=file_path, metavar="PATH")
    imports.add_argument("--format", choices=format_names(), metavar="NAME", help="read all files as this format")
    imports.add_argument("--mask-emails", action="store_true", help="hide e-mail addresses too, not only secrets")
    imports.add_argument("--drop-content", action="store_true", help="keep token counts, drop what was said")
    imports.add_argument("--quiet", action="store_true", help="no progress bar")
    imports.add_argument("--all", action="store_true", help="show all problems, not the first ones of each file")
    imports.set_defaults(run=_import)
    return parser


def _import(options: argparse.Namespace) -> int:
    store, work = _store(options), Importing()
    try:
        for path in options.paths:
            _import_one(store, path, options, work)
    except KeyboardInterrupt:
        print("Stopped. What was stored so far is complete; the same command goes on from there.", file=sys.stderr)
        _tell(work, options.all)
        return CANNOT
    _tell(work, options.all)
    return 0 if all(file.transcripts for file in work.files) else 1


def _store(options: argparse.Namespace) -> Library:
    store = library()
    privacy = Privacy(store.privacy.emails or options.mask_emails, store.privacy.content or options.drop_content)
    return store if privacy == store.privacy else Library(store.engine, privacy)


def _import_one(store: Library, path: Path, options: argparse.Namespace, work: Importing) -> None:
    bar = ProgressBar(path.name, sys.stderr, shown=not options.quiet and sys.stderr.isatty())
    work.progress = lambda done, size: bar.show(done, size, counted(work.transcripts, "transcript"))
    try:
        import_path(store, path, options.format, work)
    finally:
        bar.close()


def _tell(work: Importing, everything: bool) -> None:
    """Print what became of each file, then what was not read and why."""
    print("\n".join(_table(work.files)))
    for file in work.files:
        for title, sentences in (("not read", file.problems), ("read with a remark", file.remarks)):
            shown = sentences if everything else sentences[:MOST_SENTENCES]
            print(*[f"{title}: {sentence}" for sentence in shown], sep="\n", end="\n" if shown else "")
            if len(sentences) > len(shown):
                print(f"{title}: {file.name}: and {len(sentences) - len(shown):,} more; --all shows them.")
    print(_summary(work))


def _summary(work: Importing) -> str:
    repeated = sum(file.repeated for file in work.files)
    again = f", {repeated:,} {agreeing(repeated, 'repeats another', 'repeat others')} of this import"
    told = [f"{work.new:,} new, {work.known - repeated:,} in the library already{again if repeated else ''}."]
    if work.masked:
        kinds = ", ".join(f"{number:,} x {kind.replace('_', ' ')}" for kind, number in sorted(work.masked.items()))
        told.append(f"Secrets masked before storing: {kinds}.")
    return " ".join(told)


def _table(files: Iterable[ImportedFile]) -> list[str]:
    rows = [COLUMNS, *(_row(file) for file in files)]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return ["  ".join(_cell(text, widths[at], at < 2) for at, text in enumerate(row)).rstrip() for row in rows]


def _row(file: ImportedFile) -> tuple[str, ...]:
    numbers = (file.transcripts, file.new, file.calls, file.messages, len(file.problems))
    return (file.name, file.format or "-", *(f"{number:,}" for number in numbers))


def _cell(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _width(text: str) -> int:
    """Return the columns that a text takes in a terminal."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


if __name__ == "__main__":
    sys.exit(main())
