"""Baseline: everything that happened, also what a recorded compaction removed.

Invariants: the request is sent unchanged; over budget is reported, with every span as a blocker.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..assembler import WHOLE_HISTORY, Context, UnitAssembler
from ..decisions import Status
from ..plan import Plan


@dataclass(frozen=True, slots=True)
class FullHistory:
    """The strategy `full_history`."""

    def assembler(self, context: Context) -> UnitAssembler:
        """Return an assembler for a new conversation."""
        return _Assembler(context)


class _Assembler(UnitAssembler):
    def _plan(self) -> Plan:
        return self.untouched(Status.FITS, WHOLE_HISTORY)
