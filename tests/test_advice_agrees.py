"""What Advise tells in several places is the same everywhere, and the same as Inspect and Compare show.

Each check is of one kind of figure, and is run on the samples and on recordings with budgets that lead to all leaves.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from core.advice import Advised, advised
from core.advice_symptoms import Symptom
from core.advice_tree import Leaf
from core.advice_trial import Check
from core.config import load_config
from core.export import pinned
from core.finding import Finding
from core.findings import findings
from core.readers import read
from core.replay import Replay, replay
from core.scorecard import scorecard
from core.spans import SpanKind
from core.transcript import Transcript
from pages.parts.advice_tree_view import branches, folded
from tests.advice_runs import history

SAMPLES = Path(__file__).parents[1] / "sample_data"
NAMES = ["coding_agent.jsonl", "long_chat.json", "operations_zh.json", "support_triage.jsonl"]
RECORDINGS = [
    "claude-code/vct-v1.0.95.jsonl",
    "claude-code/d-kimuson-demo-v1.0.98.jsonl.gz",
    "cline-roo/roo-heavy-uncondensed.api_conversation_history.json",
    "cline-roo/roo-synth2-heavy-read.api_conversation_history.json",
    "codex/vct-codex-2025-09.jsonl",
    "copilot/vct-copilot-cli.jsonl",
    "gemini-cli/vct-chats-2026-04.jsonl",
    "gemini-contents/gemini-cli-trajectory.json",
    "inspect-ai/2025-05-12-browser.json",
    "iflow-qwen/iflow-zh-session.jsonl",
]
SHARES = (1.5, 0.9, 0.5, 0.35, 0.1)
"""Of the largest prompt; what is advised then goes from leaving it alone to a smaller unit of work."""


@cache
def largest_of(path: Path) -> Transcript:
    return max(read(path).transcripts, key=lambda transcript: len(transcript.calls))


@cache
def advised_at(path: Path, share: float) -> Advised:
    transcript = largest_of(path)
    budget = int(share * max(history(transcript, None).calls["in_window"]))
    config = {"budget": {"soft_limit": budget}, "strategy": {"kind": "full_history"}}
    found = advised(replay(transcript, pinned(load_config(config), transcript)))
    assert found is not None
    return found


def played(found: Advised) -> Replay:
    assert found.config is not None
    return replay(found.prompt.history.transcript, found.config)


def check(found: Advised, begins: str) -> Check | None:
    return next((made for made in found.checks if made.name.startswith(begins)), None)


def symptom(found: Advised, begins: str) -> Symptom:
    return next(row for row in found.symptoms if row.name.startswith(begins))


def told(found: list[Finding], name: str) -> Finding | None:
    return next((one for one in found if one.name == name), None)


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"(?<![\w.])\d[\d,]*", text)]


def all_agree(found: Advised) -> None:
    for agrees in (totals, restated_rules, shares_of_results, references, configured, results_touched, kept_part, fits):
        agrees(found)


def totals(found: Advised) -> None:
    """The verdict is about the prompt that the columns of a replay, Inspect and Compare show for its call."""
    prompt, made = found.prompt, found.prompt.history
    assert prompt.total == made.calls["in_window"][prompt.call]
    if found.advice.overflow > 0 and found.advice.leaf is not Leaf.OUT_OF_REACH:
        assert numbers(found.verdict)[:3] == [prompt.call + 1, prompt.total - prompt.allowed, prompt.budget]
    captured = prompt.history.transcript.calls[prompt.call].captured
    whole = captured == made.transcript.calls[prompt.call].history
    assert ("with its whole history" in found.verdict) is (not whole and found.advice.leaf is not Leaf.OUT_OF_REACH)


def restated_rules(found: Advised) -> None:
    """The tree, the symptom and the finding tell one number of repeated rules, apart from examples."""
    prompt, row = found.prompt, symptom(found, "same base cost").evidence
    assert prompt.measured.instruction_duplicates == prompt.restated + prompt.examples
    lines = len(prompt.repeated_rules)
    assert (lines > 0) is (prompt.restated > 0)
    if not row.endswith("recorded") or row.startswith("instructions"):
        assert row.endswith(
            f"; {lines:,} line{'s repeat' if lines > 1 else ' repeats'}" if lines else "no line repeats"
        )
    unknown = bool(prompt.unseen) and not prompt.measured.instruction_duplicates
    if found.advice.leaf in (Leaf.FITS, Leaf.OUT_OF_REACH):
        said = f"restated rules {prompt.restated:,}, examples {prompt.examples:,}"
        assert (said in folded(found)) is not unknown
    elif not unknown:
        said = branches(found)[3].evidence
        assert numbers(said) == [prompt.restated, prompt.examples]
    finding = told(findings(prompt.history), "duplicate_instructions")
    if finding is not None and len(prompt.history.transcript.heads) == 1:
        assert finding.figures == {"lines": lines, "tokens": prompt.restated}
    elif len(prompt.history.transcript.heads) == 1:
        assert lines == 0


def shares_of_results(found: Advised) -> None:
    """The finding of results that fill the window and the symptom tell one share, where they look at one call."""
    finding = told(findings(found.prompt.history), "tool_output_share")
    if finding is not None and finding.call == found.prompt.call:
        [share] = re.findall(r"results are (\d+%) of", finding.sentence)
        assert re.findall(r"results are (\d+%) of", symptom(found, "jumps").evidence) == [share]


def references(found: Advised) -> None:
    """What is lost up to the call is one list: the symptom has all of it, the check of 3A those of results."""
    if found.config is None:
        return
    made, row = played(found), symptom(found, "confident answer")
    card, call = scorecard(made), found.prompt.call
    of_results = (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)
    lost = [item for item in made.loss.items if item.call <= call]
    results = sum(item.span_kind in of_results for item in lost)
    assert row.seen is bool(lost)
    if lost:
        assert numbers(row.evidence)[:4] == [len(lost), call + 1, results, len(lost) - results]
    if call == len(made.transcript.calls) - 1:
        assert card.references_lost == len(lost)
    quoted, named = check(found, "values that later"), check(found, "identifiers of old")
    assert quoted is None or quoted.passed is (not results)
    assert quoted is None or not results or numbers(quoted.why)[0] == results
    if named is not None and made.loss.used[call]:
        at_call = made.loss.lost[call]
        assert named.passed is (not at_call)
        assert numbers(named.why)[:2] == [made.loss.used[call], call + 1]
        assert not at_call or numbers(named.why)[2] == at_call


def configured(found: Advised) -> None:
    """The sentence on the configuration names its parts, and the size that it and its check tell is Compare's."""
    if found.config is None or found.advice.leaf is Leaf.CHUNK:
        assert found.configured == ""
        return
    made, call, said = played(found), found.prompt.call, found.configured
    kinds = {part.kind for part in found.config.shrink}
    sent, before = made.calls["in_window"][call], found.prompt.total
    assert said.endswith(f": of call {call + 1} it sends {sent:,} of {before:,} recorded tokens.")
    assert ("cuts each tool result" in said) is ("project_tool_results" in kinds)
    assert ("says each rule once" in said) is ("dedupe_instructions" in kinds)
    assert ("placeholders" in said) is (found.config.strategy.kind == "mask_tool_results")
    assert ("with one summary" in said) is (found.config.strategy.kind == "tiered_injection")
    for part in found.config.shrink:
        assert part.kind != "project_tool_results" or f"cuts each tool result to {part.max_tokens} tokens" in said
    within = check(found, "total within")
    assert within is None or numbers(within.why)[0] == sent


def results_touched(found: Advised) -> None:
    """What the check of 3A says of sizes is what the decisions, which Compare shows, take from results."""
    halved = check(found, "size down")
    if halved is None:
        return
    ids = {span.id for span in found.prompt.results}
    made = [d for d in played(found).plan(found.prompt.call).decisions if d.span_id in ids]
    touched = [d for d in made if d.tokens_before != d.tokens_after]
    before, after = sum(d.tokens_before for d in touched), sum(d.tokens_after for d in touched)
    assert numbers(halved.why) == [len(touched), before, after]


def fits(found: Advised) -> None:
    """The verdict, the check of the total and the findings say the same of whether the call is over the budget."""
    prompt, call = found.prompt, found.prompt.call
    assert (found.advice.overflow > 0) is (prompt.history.calls["sent_excess"][call] > 0)
    if found.config is None:
        return
    made = played(found).judged_by(prompt.history.config.budget)
    over = told(findings(made), "over_budget")
    sent, excess = made.calls["in_window"][call], made.calls["sent_excess"]
    assert prompt.sizes.fits(sent) is (excess[call] == 0)
    assert (over.figures["calls"] if over else 0) == sum(one > 0 for one in excess)
    within = check(found, "total within")
    assert within is None or (within.passed is not False) is (excess[call] == 0)


def kept_part(found: Advised) -> None:
    """What is checked as kept is what the configuration keeps, and the sentence says the same."""
    kept = check(found, "last ")
    if kept is None or found.said is None:
        return
    [(setting, number)] = [(key, value) for key, value in found.said["strategy"].items() if key.startswith("keep_")]
    assert numbers(kept.name) == [number]
    assert kept.why.startswith(f"{setting} {number:,}: ")
    assert ("but for cut results" in kept.name) is (" cut" in kept.why)
    unit = setting.removeprefix("keep_") if number != 1 else setting.removeprefix("keep_").removesuffix("s")
    assert kept.passed is True
    assert f"keeps the last {number:,} {unit}" in found.configured


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", NAMES)
def test_advice_on_a_sample_agrees_with_itself(name: str, share: float) -> None:
    all_agree(advised_at(SAMPLES / name, share))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", RECORDINGS)
def test_advice_on_a_recording_agrees_with_itself(name: str, share: float, transcripts_folder: Path) -> None:
    all_agree(advised_at(transcripts_folder / name, share))


def test_all_leaves_are_looked_at(transcripts_folder: Path) -> None:
    paths = [*(SAMPLES / name for name in NAMES), *(transcripts_folder / name for name in RECORDINGS)]
    found = [advised_at(path, share) for path in paths for share in SHARES]
    leaves = {leaf for one in found for leaf in (one.advice.leaf, *one.advice.then)}
    assert leaves >= {Leaf.FITS, Leaf.OUT_OF_REACH, Leaf.SUMMARISE, Leaf.PROJECT, Leaf.SMALLER_UNIT, Leaf.DEDUPLICATE}
    kinds = {one.said["strategy"]["kind"] for one in found if one.said is not None}
    assert kinds == {"tiered_injection", "mask_tool_results", "keep_last"}


@pytest.mark.parametrize("name", NAMES)
def test_findings_of_results_name_what_is_sent(name: str) -> None:
    """Under a strategy the largest results are those that it leaves, at the size that it leaves them."""
    for share in SHARES[2:]:
        found = advised_at(SAMPLES / name, share)
        made = played(found) if found.config is not None else found.prompt.history
        finding = told(findings(made), "tool_output_share")
        if finding is None:
            continue
        assert finding.call is not None
        left = {d.span_id: d.tokens_after for d in made.plan(finding.call).decisions}
        assert numbers(finding.sentence)[-1] == left[finding.span_ids[0]] > 0
        results = [span.id for unit in made.plan(finding.call).log.units for span in unit.spans
                   if span.kind in (SpanKind.TOOL_RESULT, SpanKind.RETRIEVAL)]  # fmt: skip
        assert left[finding.span_ids[0]] == max(left.get(span_id, 0) for span_id in results)
