"""What all recordings of HTTP traffic share: their exchanges become calls, and each is counted.

A document that lists exchanges counts as many records as it lists. Exchanges that are no calls to a model are
ignored by design; a recording without any call is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..transcript import Transcript
from ..wording import counted
from .exchanges import Exchange, call_of, in_order
from .formats import Reading
from .items import Item
from .records import Record
from .runs import read_items

Splitter = Callable[[Record], list[Exchange | str] | None]
"""Returns the exchanges of a record, or the places of what is none; None for a record of another kind."""


def read_exchanges(reading: Reading, split: Splitter) -> Iterator[Transcript]:
    """Yield the conversations with models that recorded exchanges hold."""
    seen = _Seen(reading)
    yield from read_items(reading, seen.items(split))
    if not seen.calls:
        reading.report.add(
            f"no call to a language model is among {counted(seen.exchanges, 'recorded request')}"
            if seen.exchanges
            else "no HTTP request was found in it",
            "Only requests in the form of OpenAI, Anthropic or Gemini are read, whoever takes them.",
        )


class _Seen:
    """Counts what went by."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.exchanges = 0
        self.calls = 0

    def items(self, split: Splitter) -> Iterator[Item]:
        """Yield the calls of all records."""
        report = self.reading.report
        for record in self.reading.records:
            found = split(record)
            if found is None:
                expected = "An object with a request and its response was expected; it was left out."
                report.broken("this is no recorded HTTP request", expected, place=record.place)
            elif not found:
                report.ignored()
            else:
                report.counts.read += len(found) - 1
                yield from self._calls(self._whole(found))

    def _whole(self, found: Iterable[Exchange | str]) -> list[Exchange]:
        whole = []
        for exchange in found:
            if isinstance(exchange, str):
                expected = "An object with a request and its response was expected; it was left out."
                self.reading.report.broken("the entry holds no request", expected, place=exchange)
            else:
                whole.append(exchange)
        return whole

    def _calls(self, exchanges: list[Exchange]) -> Iterator[Item]:
        report = self.reading.report
        for exchange in in_order(exchanges):
            told = sum(not problem.warning for problem in report.problems) + report.more
            item = call_of(exchange, report)
            self.exchanges += 1
            if item is not None:
                self.calls += 1
                report.used()
                yield item
            elif sum(not problem.warning for problem in report.problems) + report.more > told:
                report.counts.broken += 1
            else:
                report.ignored()
