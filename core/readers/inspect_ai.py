"""inspect_ai logs: one JSON document with its samples, or a ZIP archive (`.eval`) with a file for each of them.

An archive holds the log without samples in `header.json` (of a run that broke off only its start is there), and the
samples under `samples/`; summaries and journals repeat what stands elsewhere. What is inside a sample is the business
of `inspect_sample`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .inspect_sample import sample_transcripts
from .records import Record
from .rows import within

HEADERS = ("header.json", "_journal/start.json")
SAMPLES = "samples/"
REPEATED = ("summaries.json", "reductions.json", "_journal/")
EXPECTED = "A log of inspect_ai with `eval` and `samples` was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are logs or samples of inspect_ai."""
    return 0.95 * share(values, lambda value: _is_log(value) or _is_sample(value))


def gather(names: Sequence[str]) -> list[list[str]]:
    """Return the files of each archived log: its header, its samples in order, then what repeats them."""
    found = []
    for start in dict.fromkeys(name.partition(SAMPLES)[0] for name in names if f"/{SAMPLES}" in f"/{name}"):
        header = next((start + name for name in HEADERS if start + name in names), "")
        if header and (not start or start.endswith("/")):
            samples = sorted(name for name in names if name.startswith(start + SAMPLES) and name.endswith(".json"))
            rest = [name for name in names if name != header and name.startswith(tuple(start + r for r in REPEATED))]
            others = [start + name for name in HEADERS if start + name in names and start + name != header]
            found.append(list(dict.fromkeys([header, *samples, *rest, *others])))
    return found


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the transcripts of all samples."""
    log: Wire = {}
    for record in reading.records:
        log = record.value if _is_log(record.value) else log
        if reading.files and _is_log(record.value):
            reading.report.used()
        else:
            yield from _document(reading, record, log)
    for file, records in reading.others():
        if f"/{SAMPLES}" in f"/{file.name}":
            for record in records:
                yield from _document(reading, record, log)
        else:
            reading.report.counts.read += 1
            reading.report.ignored()


def _document(reading: Reading, record: Record, log: Wire) -> Iterator[Transcript]:
    """Read one log, or one sample of a log, and count it."""
    value, found = record.value, False
    alone = _is_sample(value)
    samples = [value] if alone else listed(value, "samples") if _is_log(value) else []
    for number, sample in enumerate(samples, 1):
        place = record.place if alone else within(record.place, f"sample {number}")
        for made in sample_transcripts(reading, sample, log, place) if isinstance(sample, Mapping) else ():
            found = True
            yield made
    if found:
        reading.report.used()
    elif _is_log(value) and not samples:
        expected = "Give the log that was written with its samples (`log_samples`)."
        reading.report.broken("the log holds no samples", expected, place=record.place)
    elif alone or samples:
        status = text(inner(value, "error"), "message")[:80] or text(value, "status") or "no messages"
        reading.report.broken(f"no sample of it holds messages ({status})", EXPECTED, place=record.place)
    else:
        reading.report.broken("this is no log of inspect_ai", EXPECTED, place=record.place)


def _is_log(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("eval"), Mapping):
        return False
    return "task" in value["eval"] and ("plan" in value or "samples" in value)


def _is_sample(value: Any) -> bool:
    if not isinstance(value, Mapping) or "epoch" not in value or "id" not in value:
        return False
    return any(isinstance(value.get(key), list) for key in ("messages", "events")) and "input" in value


FORMAT = Format("inspect_ai", "inspect_ai logs", sniff, read, gather=gather)
