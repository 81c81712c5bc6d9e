"""The same request and settings give the same bytes in every process, whatever the seed of its hashes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from core.runtime import ContextRuntime
from core.wire import body_sha256
from tests.cases import tool_chat
from tests.engine_configurations import GROUPS

TOOLS = [{"type": "function", "function": {"name": n, "description": "x " * 60}} for n in ("search_docs", "run_x", "a")]
RULES = [
    {"match": {"kind": "tool_result", "tool": "*"}, "tier": "contextual"},
    {"match": {"kind": "tool_definition", "tool": "a"}, "group": "other", "keywords": ["甲", "乙", "丙"]},
    {"match": {"pattern": "备份|网关"}, "evict": "pinned"},
]
STRATEGIES = [
    {"kind": "keep_last", "step": 100},
    {"kind": "summarize_and_keep", "min_turns": 0, "min_steps": 0},
    {"kind": "summarize_and_keep", "mode": "published"},
    {"kind": "tiered_injection", "groups": GROUPS},
    {"kind": "tiered_injection", "groups": GROUPS, "trigger": None, "keep_turns": 16},
]


def fingerprint() -> str:
    """Return a hash of all requests and decisions of some runs."""
    found = hashlib.sha256()
    for strategy in STRATEGIES:
        for rules in ([], RULES):
            for limit in (0, 600, 1200, 100_000):
                config = {"budget": {"soft_limit": limit}, "rules": rules, "strategy": strategy}
                session = ContextRuntime.load(config).session()
                for count in (9, 30, 65):
                    hints = {"pins": ["m3.0", "m1.0"], "active_tools": ["run_x"]} if count == 30 else None
                    result = session.assemble({"messages": tool_chat()[:count], "tools": TOOLS}, hints)
                    found.update(body_sha256(result.request).encode())
                    found.update(json.dumps([repr(decision) for decision in result.decisions]).encode())
    return found.hexdigest()


def test_processes_with_other_seeds_agree() -> None:
    root = Path(__file__).parents[1]
    code = "from tests.test_engine_determinism import fingerprint; print(fingerprint())"
    made = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "4242")
    ]
    assert set(made) == {fingerprint()}
