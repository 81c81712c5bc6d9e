"""What is said of an import: a box for each of a few files; of many, one line, what was refused, and a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.wording import agreeing, counted
from storage.importing import ImportedFile, Importing

from .edge import escaped

MOST_BOXES = 3
"""More files than that are told in one line."""
MOST_LISTED = 20
MOST_ROWS = 12
NUMBER = re.compile(r"\d[\d,]*")
COUNTS = ("transcripts", "new", "calls", "messages")
"""What is counted of each file, by the names of its fields."""


def import_told(work: Importing) -> None:
    """Say what became of every file, and which secrets were masked."""
    if len(work.files) <= MOST_BOXES:
        for file in work.files:
            _box(file)
    else:
        _summary(work.files)
    if work.masked:
        st.caption(escaped(masked_line(work.masked)))


def masked_line(masked: Mapping[str, int]) -> str:
    """Return in a sentence how many secrets of each kind were masked."""
    kinds = ", ".join(f"{kind} in {counted(number, 'place')}" for kind, number in sorted(masked.items()))
    return f"Secrets masked before storing: {kinds}."


def summary_line(files: Sequence[ImportedFile]) -> str:
    """Return in a sentence what became of many files."""
    files = _files(files)
    transcripts, refused = sum(file.transcripts for file in files), sum(file.refused for file in files)
    if not transcripts:
        return f"Nothing was stored: {counted(refused, 'file')} refused."
    partly = sum(file.read_in_part for file in files)
    remarked = sum(bool(file.remarks and file.transcripts) for file in files)
    number = counted(len(files), "file")
    said = f"{counted(transcripts, 'transcript')} from {f'{len(files) - refused:,} of ' if refused else ''}{number}"
    told = [f"{refused:,} {agreeing(refused, 'was', 'were')} refused"] if refused else []
    told += [f"{partly:,} read in part"] if partly else []
    told += [f"{remarked:,} read with a remark"] if remarked else []
    return " ".join([f"{said}{'; ' if told else ''}{', '.join(told)}.", *_not_new(files)])


def _not_new(files: Sequence[ImportedFile]) -> Iterable[str]:
    """Yield why not all of the transcripts are new, as sentences."""
    transcripts = sum(file.transcripts for file in files)
    known, repeated = sum(file.known for file in files), sum(file.repeated for file in files)
    of_one = len(files) == 1
    them = "them" if of_one else "the transcripts"
    if known:
        whole = "Everything in it was" if of_one else "All the transcripts were"
        some = whole if known == transcripts else f"{known:,} of {them} {agreeing(known, 'was', 'were')}"
        yield f"{some} in the library already."
    if repeated:
        yield f"{repeated:,} of {them} {agreeing(repeated, 'repeats another', 'repeat others')} of this import."


def _files(files: Sequence[ImportedFile]) -> list[ImportedFile]:
    return [file for file in files if not file.container]


def _summary(files: Sequence[ImportedFile]) -> None:
    lines = [f"**{escaped(summary_line(files))}**"]
    lines += _listed("Refused:", [_reason(file) for file in files if file.refused])
    lines += _listed("Read in part:", [_reason(file) for file in files if file.read_in_part])
    _show(files)("\n".join(lines))
    with st.expander(f"All {counted(len(_files(files)), 'file')}"):
        table = import_table(_files(files))
        st.dataframe(
            table,
            hide_index=True,
            height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
            placeholder="not known",
            key="imported_files",
            column_config=_widths(),
            alt="Imported files",
        )
        # What is remarked on a file of which nothing was taken helps nobody; the archive's own remarks stay.
        read = [file for file in files if not file.refused]
        remarks = [f"{file.inside}{sentence}" for file in read for sentence in alike(file.remarks)]
        if remarks:
            st.markdown("\n".join(_listed("Read with a remark:", remarks)))


def _widths() -> dict[str, Any]:
    """Return columns as wide as their numbers need, so that the reasons have the rest."""
    numbers = {name: st.column_config.NumberColumn(width=86, format="localized") for name in COUNTS}
    texts = {"file": 230, "format": 120, "problems, remarks": 480}
    return numbers | {name: st.column_config.TextColumn(width=width) for name, width in texts.items()}


def import_table(files: Sequence[ImportedFile]) -> pd.DataFrame:
    """Return what became of each file as a table, the refused ones first."""
    shown = sorted(files, key=lambda file: not file.refused)
    return pd.DataFrame(
        {
            "file": [f"{file.inside}{file.name}" for file in shown],
            "format": [file.format for file in shown],
            **{name: [getattr(file, name) for file in shown] for name in COUNTS},
            "problems, remarks": ["\n".join([*alike(file.problems), *alike(file.remarks)]) for file in shown],
        }
    )


def _reason(file: ImportedFile) -> str:
    """Return why a file was not read, or not all of it: its first problem, and how many more there are."""
    first, more = file.problems[0], len(file.problems) - 1
    return f"{file.inside}{first}" + (f" (and {counted(more, 'more problem')})" if more else "")


def alike(sentences: Iterable[str]) -> list[str]:
    """Return sentences, those that differ in their numbers alone as the first of them and how many more there are."""
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        groups.setdefault(NUMBER.sub("0", sentence), []).append(sentence)
    return [
        group[0] + (f" (and {len(group) - 1:,} more like it)" if len(group) > 1 else "") for group in groups.values()
    ]


def _box(file: ImportedFile) -> None:
    lines = [f"**{escaped(file.inside + file.name)}**  ", *(f"{escaped(line)}  " for line in sentences(file))]
    lines += _listed("Not read:", alike(file.problems)) + _listed("Read with a remark:", alike(file.remarks))
    _show([file])("\n".join(lines))


def sentences(file: ImportedFile) -> Iterable[str]:
    """Yield what became of a file."""
    if not file.transcripts:
        if file.refused:
            yield "Nothing was stored."
        return
    yield f"{counted(file.transcripts, 'transcript')} with {counted(file.calls, 'call')}, read as {file.format}."
    yield from _not_new([file])
    if file.ignored:
        passed_over = counted(file.ignored, "record", "that holds", "that hold")
        yield f"{passed_over} no messages by design: passed over."


def _listed(title: str, sentences: Sequence[str]) -> list[str]:
    """Return a title and a list in Markdown, the first ones of many; nothing where there are no sentences."""
    if not sentences:
        return []
    more = len(sentences) - MOST_LISTED
    listed = [f"- {escaped(sentence)}" for sentence in sentences[:MOST_LISTED]]
    return ["", title, "", *listed, *([f"- and {more:,} more"] if more > 0 else []), ""]


def _show(files: Sequence[ImportedFile]) -> Callable[[str], object]:
    """Return the kind of message that suits the worst and the best of some files."""
    if not any(file.transcripts for file in files):
        return st.error if any(file.problems for file in files) else st.info
    if any(file.problems for file in files):
        return st.warning
    return st.success if any(file.new for file in files) else st.info
