"""The strategies, one file each, named as in a configuration."""

from __future__ import annotations

from .as_captured import AsCaptured
from .full_history import FullHistory
from .keep_last import KeepLast
from .mask_tool_results import MaskToolResults
from .required_reserve import RequiredReserve
from .span_triage import SpanTriage
from .summarize_and_keep import SummarizeAndKeep
from .tiered_injection import TieredInjection
from .tiers import ToolGroup

__all__ = [
    "AsCaptured",
    "FullHistory",
    "KeepLast",
    "MaskToolResults",
    "RequiredReserve",
    "SpanTriage",
    "SummarizeAndKeep",
    "TieredInjection",
    "ToolGroup",
]
