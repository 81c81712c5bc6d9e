"""Reads recorded transcripts; adding a format is a file and a line in `_FORMATS`.

A reader never raises for what a file holds: what it cannot read becomes a problem that says where it is and what was
expected, and all the rest is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..transcript import Transcript
from . import (
    agentbench,
    aider,
    anthropic,
    chatgpt_export,
    chatgpt_markdown,
    claude_ai_export,
    claude_code,
    claude_stream,
    cline_roo,
    cline_ui,
    codex,
    codex_exec,
    copilot_chat,
    copilot_cli,
    gemini,
    gemini_cli,
    gemini_recordings,
    har,
    harbor_atif,
    http_log,
    iflow,
    inspect_ai,
    kimi_cli,
    kimi_context,
    langchain,
    langfuse,
    langgraph,
    langsmith,
    litellm,
    lmsys_arena,
    managed_agents,
    mini_swe_agent,
    mitmproxy,
    mlflow,
    muse_code,
    openai_chat,
    openai_finetune,
    openai_responses,
    opencode,
    openhands,
    otel,
    pi,
    prompt_map,
    qwen_code,
    sharegpt,
    swe_agent,
    tau2_bench,
    tau_bench,
    toolbench,
    toolbench_eval,
    vcr,
    vercel_ai,
)
from .choosing import Reader
from .formats import Format
from .problems import Counts, Problem, Report

__all__ = ["Counts", "Problem", "ReadResult", "Report", "format_names", "read", "read_stream"]

_FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        claude_code.FORMAT,
        claude_stream.FORMAT,
        iflow.FORMAT,
        qwen_code.FORMAT,
        codex.FORMAT,
        codex_exec.FORMAT,
        gemini_cli.FORMAT,
        gemini_recordings.FORMAT,
        opencode.FORMAT,
        cline_roo.FORMAT,
        cline_ui.FORMAT,
        kimi_cli.FORMAT,
        kimi_context.FORMAT,
        pi.FORMAT,
        copilot_cli.FORMAT,
        copilot_chat.FORMAT,
        har.FORMAT,
        vcr.FORMAT,
        http_log.FORMAT,
        langfuse.FORMAT,
        langsmith.FORMAT,
        litellm.FORMAT,
        mlflow.FORMAT,
        otel.FORMAT,
        langchain.FORMAT,
        langgraph.FORMAT,
        managed_agents.FORMAT,
        vercel_ai.FORMAT,
        mitmproxy.FORMAT,
        openai_responses.FORMAT,
        gemini.FORMAT,
        anthropic.FORMAT,
        sharegpt.FORMAT,
        openai_finetune.FORMAT,
        lmsys_arena.FORMAT,
        tau_bench.FORMAT,
        tau2_bench.FORMAT,
        toolbench.FORMAT,
        toolbench_eval.FORMAT,
        agentbench.FORMAT,
        swe_agent.FORMAT,
        mini_swe_agent.FORMAT,
        openhands.FORMAT,
        claude_ai_export.FORMAT,
        chatgpt_export.FORMAT,
        aider.FORMAT,
        chatgpt_markdown.FORMAT,
        inspect_ai.FORMAT,
        harbor_atif.FORMAT,
        prompt_map.FORMAT,
        muse_code.FORMAT,
        openai_chat.FORMAT,
    )
}

_READER = Reader(_FORMATS)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a file holds. Without transcripts there is at least one problem."""

    transcripts: list[Transcript]
    problems: list[Problem]
    format: str | None
    counts: Counts
    files: list[Report] = field(default_factory=list)
    """What is said of each file of a folder or archive."""


def format_names() -> tuple[str, ...]:
    """Return the names of the formats that can be read."""
    return tuple(_FORMATS)


def read(content: Path | bytes | str, format: str | None = None) -> ReadResult:
    """Read all transcripts: a str is content, a Path a file, a folder or an archive. Never raises for what it holds.

    Without `format` it is recognised, for each file of a folder or archive; a name that is not known is a problem too.
    """
    report = Report()
    transcripts = list(read_stream(content, format, report))
    return ReadResult(transcripts, report.problems, report.format, report.counts, report.files)


def read_stream(
    content: Path | bytes | str,
    format: str | None = None,
    report: Report | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Transcript]:
    """Yield transcripts one by one, each when it is complete; problems and counts gather in `report`.

    `progress` is called with the bytes read so far and their number, as they are packed.
    """
    report = Report() if report is None else report
    report.progress = progress or report.progress
    return _READER.stream(content, format, report)
