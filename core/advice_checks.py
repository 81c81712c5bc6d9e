"""Whether a leaf's trim was safe: one function a check, run on the plan that the configuration makes (rule book 1.5).

A check passes, fails, or cannot be told from a recording (`passed` is None): what a model would have written was never
written. Each says why.
"""

from __future__ import annotations

from collections.abc import Callable

from .advice_checks_split import (
    aggregator_fits,
    chunks_cover,
    each_unit_fits,
    fields_named,
    numbering_complete,
    raw_text_absent,
    units_partition,
)
from .advice_checks_trim import (
    call_ids_unchanged,
    contradictions_reported,
    examples_demoted,
    identifiers_survive,
    kept_part_identical,
    no_duplicate_left,
    no_orphans,
    one_summary,
    quoted_values_remain,
    record_count_stated,
    results_halved,
    rules_unchanged,
    summary_within_cap,
    within_budget,
)
from .advice_tree import Leaf
from .advice_trial import Check, Trial

CHECKS: dict[Leaf, tuple[Callable[[Trial], Check], ...]] = {
    Leaf.FITS: (),
    Leaf.OUT_OF_REACH: (),
    Leaf.CHUNK: (chunks_cover, numbering_complete, each_unit_fits, fields_named, raw_text_absent, aggregator_fits),
    Leaf.SUMMARISE: (
        kept_part_identical,
        one_summary,
        summary_within_cap,
        within_budget,
        no_orphans,
        identifiers_survive,
    ),
    Leaf.PROJECT: (
        quoted_values_remain,
        call_ids_unchanged,
        record_count_stated,
        results_halved,
        within_budget,
        no_orphans,
    ),
    Leaf.DEDUPLICATE: (
        rules_unchanged,
        no_duplicate_left,
        examples_demoted,
        contradictions_reported,
        within_budget,
    ),
    Leaf.SMALLER_UNIT: (units_partition, each_unit_fits, aggregator_fits),
}


def checked_leaves(trial: Trial, leaves: tuple[Leaf, ...]) -> tuple[Check, ...]:
    """Return the checks of some leaves, each once."""
    functions = dict.fromkeys(check for leaf in leaves for check in CHECKS[leaf])
    return tuple(check(trial) for check in functions)
