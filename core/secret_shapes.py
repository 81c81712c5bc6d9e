"""The known shapes of secrets, one line each.

A shape is a literal mark and the run of characters after it. A text without the mark is never searched, and no run
is read more than twice, so that time stays linear on any text. Where a mark is so short that it ends common words
(`task-`), it has to start a word; a line break written as `\\n` in JSON and a colour code count as its start too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .secret_values import is_login, looks_secret

__all__ = ["FIELD_SHAPES", "SCHEME", "SHAPES", "Shape"]


class Shape(NamedTuple):
    """One kind of secret. The group `secret` is what gets replaced; `tag` is the length of its name in hex digits.

    Without a `tag` the length follows from the secret's own. What may also be words about a secret is replaced only
    where a `test` says that it is one.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    tag: int | None = 6
    test: Callable[[str], bool] | None = None


def _key(kind: str, mark: str, rest: str) -> Shape:
    """A mark that stands in no word, and what follows it."""
    return Shape(kind, (mark,), re.compile(f"(?P<secret>{re.escape(mark)}{rest})"))


def _word(kind: str, mark: str, rest: str) -> Shape:
    """A mark that has to start a word, and what follows it."""
    starts = rf"(?:(?<![A-Za-z0-9+/_-]{mark})|(?<=\\[nrt]{mark})|(?<=\dm{mark}))"
    return Shape(kind, (mark,), re.compile(f"(?P<secret>{mark}{starts}{rest})"))


def _after(
    kind: str, marks: tuple[str, ...], pattern: str, tag: int | None = 6, test: Callable[[str], bool] | None = None
) -> Shape:
    """A secret that is known by what stands before it."""
    return Shape(kind, marks, re.compile(pattern), tag, test)


def _field(*words: str, more: str = "") -> Shape:
    """What a field for credentials holds, in JSON written as a text, in code, in a header or as `NAME=value`."""
    name = "[_-]?".join(words)
    pattern = rf"(?i:{name}{more}){SET_TO}(?P<secret>(?(quote){QUOTED}|{BARE}))"
    return _after("credential", _spellings(words), pattern, tag=None, test=looks_secret)


def _spellings(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return how a field's name is written, without its first letter, which is small or large."""
    joined, capital = "".join(words), "".join(word.capitalize() for word in words)
    found = (link.join(words) for link in "_-")
    spelt = (*found, "_".join(words).upper(), joined, capital, joined.upper())
    return tuple(dict.fromkeys(name[1:] for name in spelt))


PEM_NAME = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
PEM_WHOLE = rf"[^-]*+(?:-(?!----)[^-]*+)*+-{{5,6}}END {PEM_NAME}"
PEM_CUT_OFF = r"(?:(?:\s|\\[nrt])++[A-Za-z0-9+/=]{16,}+)++"
GAP = r"""[\\"'\s:=]{1,8}"""
"""What stands between a field's name and its value in headers, JSON, escaped JSON and shell."""
SCHEME = r"(?i:(?:token|bearer|basic|bot|key|api-?key|oauth)[ \t]{1,4})?"
"""What may stand before the secret in a header."""
SET_TO = rf"""(?:\\{{0,8}}["'`])?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<quote>\\{{0,8}}["'`])?{SCHEME}"""
"""What stands between a field's name and its value where any value is taken: a sign, and no line ends."""
QUOTED = r"""(?:[^\s"'`\\]|\\{1,8}/){8,}+(?![ \t])"""
"""A value in quotes, whole: what goes on after a space is a sentence."""
BARE = r"""[^\s"'`\\<>(){}\[\],;&|$]{16,}+(?![(\[])"""
"""A value without quotes, longer as it may be code; a bracket after it would make it a call."""
OPAQUE = r"(?P<secret>(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,}={0,2})"
"""A token of any shape. It holds a digit, since the words that follow "bearer" in prose do not."""

SHAPES: tuple[Shape, ...] = (
    _key("private-key", "-----BEGIN ", f"{PEM_NAME}(?:{PEM_WHOLE}|{PEM_CUT_OFF})"),
    _key("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{20,}"),
    _key("openrouter-key", "sk-or-v1-", r"[A-Za-z0-9]{32,}"),
    _key("langfuse-key", "sk-lf-", r"[A-Za-z0-9-]{20,}"),
    *(_key("openai-key", mark, r"[A-Za-z0-9_-]{20,}") for mark in ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-")),
    _word("openai-key", "sk-", r"(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}"),
    _word("google-key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _key("google-key", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _key("google-token", "ya29.", r"[A-Za-z0-9_-]{20,}"),
    *(_word("aws-key-id", mark, r"[A-Z0-9]{16}(?![A-Za-z0-9])") for mark in ("AKIA", "ASIA")),
    _after(
        "aws-secret-key",
        ("ecret_access_key", "ECRET_ACCESS_KEY", "ecretAccessKey"),
        rf"(?i:secret_?access_?key){GAP}(?P<secret>[A-Za-z0-9/+=]{{40}})(?![A-Za-z0-9/+=])",
    ),
    _after("azure-key", ("AccountKey=",), r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    *(_key("github-token", mark, r"[A-Za-z0-9]{36,}") for mark in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _key("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    _key("gitlab-token", "glpat-", r"[A-Za-z0-9_-]{20,}"),
    *(_key("slack-token", f"xox{letter}-", r"[A-Za-z0-9-]{10,}") for letter in "abeoprs"),
    _key("slack-token", "xapp-", r"[A-Za-z0-9-]{20,}"),
    _after("slack-webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/services/(?P<secret>T\w{6,}/B\w{6,}/\w{16,})"),
    _after("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/(?P<secret>\d{15,}/[\w-]{40,})"),
    *(_key("stripe-key", mark, r"[A-Za-z0-9]{16,}") for mark in ("sk_live_", "sk_test_", "rk_live_", "rk_test_")),
    _key("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _word("huggingface-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _word("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _word("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _word("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _word("replicate-token", "r8_", r"[A-Za-z0-9]{37,}"),
    _key("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{40,}"),
    _key("tavily-key", "tvly-", r"[A-Za-z0-9-]{20,}"),
    *(_key("langsmith-key", mark, r"[a-f0-9]{32}_[a-f0-9]{10}") for mark in ("lsv2_pt_", "lsv2_sk_")),
    _word("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    _key("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    _key("digitalocean-token", "dop_v1_", r"[a-f0-9]{64}"),
    _word("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _after("telegram-token", (":AA",), r"(?<!\d)(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    _word("jwt", "eyJ", r"[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}"),
    _after("bearer-token", ("earer ", "EARER "), rf"(?:[Bb]earer|BEARER) {{1,4}}{OPAQUE}"),
    _after(
        "basic-login",
        ("asic ", "ASIC "),
        rf"(?i:authorization{GAP}basic) {{1,4}}(?P<secret>[A-Za-z0-9+/]{{8,}}={{0,2}})",
    ),
    _after(
        "basic-login",
        ("asic ", "ASIC "),
        rf"(?i:authorization{GAP}basic) {{1,4}}(?P<secret>[A-Za-z0-9+/]{{2,7}}={{0,2}})(?![A-Za-z0-9+/=])",
        tag=2,
        test=is_login,
    ),
    _after("api-key", ("pi-key", "pi-Key", "PI-Key", "PI-KEY"), rf"(?i:api-key){GAP}{OPAQUE}", test=looks_secret),
    _after(
        # Two hex digits only: a longer name would let a common password be guessed from its placeholder.
        "url-password",
        ("://",),
        # Nor is the tag of an image a password, with the image's digest after it.
        r"""://[^\s/?#@:"'<>\\,]{0,256}:(?!\[secret:)(?P<secret>[^\s/?#"'<>\\,]{1,512})@(?!sha\d{3}:)""",
        tag=2,
    ),
)

FIELD_SHAPES: tuple[Shape, ...] = (
    _field("authorization", more="(?:[_-]?token)?"),
    _field("api", "key"),
    _field("access", "token"),
    _field("refresh", "token"),
    _field("client", "secret"),
    _field("private", "key"),
    _field("secret", "access", "key"),
)
"""What is looked for where a text holds `:` or `=`, by the names that `secret_values` knows."""
