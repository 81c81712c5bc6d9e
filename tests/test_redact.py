"""Secrets are replaced wherever they stand, equal ones equally, and nothing else is touched."""

from __future__ import annotations

import base64
import copy
import json
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.redact import mask, mask_transcript
from core.secret_values import is_credential_field
from core.transcript import Call, Transcript

ROOT = Path(__file__).parent.parent
RUN = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2"
"""Characters that a key may have; joined to the marks here, so that no key stands in this file."""
HEX = "0123456789abcdef" * 4
SLACK = "https://hooks.slack.com/services/"


def pem(kind: str, body: str) -> str:
    return f"-----BEGIN {kind}-----{body}-----END {kind}-----"


SECRETS = [
    ("openai-key", "sk-" + RUN[:48]),
    ("openai-key", "sk-" + HEX[:32]),
    ("openai-key", "sk-proj-" + RUN[:40] + "_x-y" + RUN[:40]),
    ("openai-key", "sk-svcacct-" + RUN[:50]),
    ("openai-key", "sk-admin-" + RUN[:50]),
    ("anthropic-key", "sk-ant-api03-" + RUN + "-AA"),
    ("openrouter-key", "sk-or-v1-" + HEX),
    ("langfuse-key", "sk-lf-" + "01234567-89ab-cdef-0123-456789abcdef"),
    ("google-key", "AIza" + "Sy" + RUN[:33]),
    ("google-key", "GOCSPX-" + RUN[:28]),
    ("google-token", "ya29." + RUN),
    ("aws-key-id", "AKIA" + "ABCDEFGH23456789"),
    ("aws-key-id", "ASIA" + "ABCDEFGH23456789"),
    ("github-token", "ghp_" + RUN[:36]),
    ("github-token", "ghs_" + RUN[:36]),
    ("github-token", "github_pat_" + RUN[:22] + "_" + RUN[:59]),
    ("gitlab-token", "glpat-" + RUN[:20]),
    ("slack-token", "xoxb-" + "123456789012-123456789012-" + RUN[:24]),
    ("slack-token", "xapp-" + "1-A0123456789-123456789012-" + HEX),
    ("stripe-key", "sk_live_" + RUN[:24]),
    ("stripe-key", "rk_test_" + RUN[:24]),
    ("stripe-webhook-secret", "whsec_" + RUN[:32]),
    ("huggingface-token", "hf_" + RUN[:34]),
    ("groq-key", "gsk_" + RUN[:52]),
    ("xai-key", "xai-" + RUN + RUN[:16]),
    ("perplexity-key", "pplx-" + RUN[:48]),
    ("replicate-token", "r8_" + RUN[:37]),
    ("nvidia-key", "nvapi-" + RUN),
    ("tavily-key", "tvly-" + "dev-" + RUN[:32]),
    ("langsmith-key", "lsv2_pt_" + HEX[:32] + "_" + HEX[:10]),
    ("npm-token", "npm_" + RUN[:36]),
    ("pypi-token", "pypi-AgE" + "IcHlwaS5vcmc" + RUN),
    ("digitalocean-token", "dop_v1_" + HEX),
    ("sendgrid-key", "SG." + RUN[:22] + "." + RUN[:43]),
    ("telegram-token", "123456789:AA" + RUN[:33]),
    ("jwt", "eyJ" + RUN[:30] + ".eyJ" + RUN + "." + RUN[:43]),
    ("private-key", pem("RSA PRIVATE KEY", "\n" + (RUN + "\n") * 20)),
    ("private-key", pem("PRIVATE KEY", "\\n" + (RUN + "\\n") * 20)),
    ("private-key", pem("OPENSSH PRIVATE KEY", "\n  " + (RUN + "\n  ") * 20)),
    ("private-key", pem("PGP PRIVATE KEY BLOCK", "\nVersion: 1\n\n" + (RUN + "\n") * 9 + "=aB3d\n")),
    ("private-key", pem("EC PRIVATE KEY", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + RUN + "\n")),
]

PLACES = [
    "{}",
    "export KEY={}",
    'the key is "{}".',
    "line\n{}\nline",
    '{{"arguments": "KEY=1\\n{}\\n"}}',
    "\x1b[32m{}\x1b[0m",
    "https://host.example/v1?key={}&x=1",
    "({})",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=lambda value: value[:24])
@pytest.mark.parametrize("place", PLACES)
def test_a_known_shape_is_replaced_and_all_around_it_stays(kind: str, secret: str, place: str) -> None:
    masked = mask({"content": place.format(secret)})
    placeholder = mask(secret).value
    assert placeholder.startswith(f"[secret:{kind}:")
    assert masked.value == {"content": place.format(placeholder)}
    assert masked.found == {kind: 1}


@pytest.mark.parametrize(
    ("text", "kind", "left"),
    [
        ("Authorization: Bearer " + RUN, "bearer-token", "Authorization: Bearer [secret:bearer-token:{}]"),
        ("bearer  abc.def_1234567890~x+/y==", "bearer-token", "bearer  [secret:bearer-token:{}]"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "basic-login", "authorization: Basic [secret:basic-login:{}]"),
        ("Bearer correct-horse-battery-staple-9", "bearer-token", "Bearer [secret:bearer-token:{}]"),
        ("Bearer prod.access-token.v2.2024", "bearer-token", "Bearer [secret:bearer-token:{}]"),
        ("x-api-key: " + RUN[:30], "api-key", "x-api-key: [secret:api-key:{}]"),
        ('\\"X-Goog-Api-Key\\": \\"' + RUN[:30] + '\\"', "api-key", '\\"X-Goog-Api-Key\\": \\"[secret:api-key:{}]\\"'),
        ("aws_secret_access_key = " + RUN[:40], "aws-secret-key", "aws_secret_access_key = [secret:aws-secret-key:{}]"),
        ('SecretAccessKey": "' + RUN[:38] + '/+"', "aws-secret-key", 'SecretAccessKey": "[secret:aws-secret-key:{}]"'),
        ("AccountKey=" + RUN + RUN[:22] + "==;Suffix", "azure-key", "AccountKey=[secret:azure-key:{}];Suffix"),
        ("postgresql+psycopg://ann:p%40ss@db:5432/x", "url-password", "postgresql+psycopg://ann:[secret:url-password:{}]@db:5432/x"),
        ("redis://:hunter2@cache/0 up", "url-password", "redis://:[secret:url-password:{}]@cache/0 up"),
        ("https://a:b@c@d.example/", "url-password", "https://a:[secret:url-password:{}]@d.example/"),
        (f"{SLACK}T0123ABCD/B0123ABCD/{RUN}", "slack-webhook", SLACK + "[secret:slack-webhook:{}]"),
        (f"/api/webhooks/123456789012345678/{RUN}", "discord-webhook", "/api/webhooks/[secret:discord-webhook:{}]"),
    ],
)  # fmt: skip
def test_a_secret_known_by_what_stands_before_it(text: str, kind: str, left: str) -> None:
    masked = mask(text)
    before, after = left.split("{}")
    assert masked.found == {kind: 1}
    assert masked.value.startswith(before)
    assert masked.value.endswith(after)
    assert len(masked.value) - len(before) - len(after) == (2 if kind == "url-password" else 6)


def test_a_private_key_that_was_cut_off_is_replaced_and_the_text_after_it_stays() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\n" + (RUN + "\n") * 3 + "... 20 lines more, then PRIVATE things"
    masked = mask(text)
    assert masked.found == {"private-key": 1}
    assert masked.value.endswith("]\n... 20 lines more, then PRIVATE things")
    assert RUN not in masked.value


@pytest.mark.parametrize(
    "text",
    [
        "call_9f8e7d6c5b4a39281706f5e4",
        "toolu_01A09q90qw90lq917835lq9",
        "chatcmpl-8abcdefGHIJKLMNOPqrstuvwxYZ012",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        str(uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)),
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha256:" + HEX,
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "git push origin task-sk-and-risk-management-2024",
        "sk-circle sk-fading-circle1",
        "the bearer of this letter is authorised, Bearer authentication is used",
        "api-key: see-docs-at-section-42",
        "image: docker://localhost:5000@sha256:" + HEX,
        "Basic understanding of internationalisation",
        "http://localhost:8501/compare?a=1 and mail@example.com",
        "see http://host:80, mail x@y.example",
        "git@github.com:owner/name.git",
        "postgresql://user:${DB_PASSWORD}@host/db",
        "postgresql://user:<password>@host/db",
        "postgresql://user:****@host/db",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "A PEM file starts with -----BEGIN PRIVATE KEY----- and ends with its END line.",
        "hf_hub_download(repo_id, filename)",
        "npm_config_registry and npm_package_version",
        "xoxo, yours",
        "eyJhbGciOiJIUzI1NiJ9",
        "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode(),
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    body = {"content": text}
    masked = mask(body)
    assert masked.found == {}
    assert masked.value is body


def test_an_image_that_spells_a_key_by_chance_stays() -> None:
    image = base64.b64encode(bytes(3000)).decode() + "+AKIA" + "ABCDEFGH23456789" + "/" + "A" * 300
    body = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": image}}
    assert mask(body).value is body


def test_equal_secrets_stay_equal_and_different_ones_different() -> None:
    one, two = "ghp_" + RUN[:36], "ghp_" + RUN[1:37]
    masked = mask([f"a {one} b", {"x": one}, two])
    assert masked.found == {"github-token": 3}
    first = masked.value[1]["x"]
    assert masked.value == [f"a {first} b", {"x": first}, mask(two).value]
    assert mask(two).value != first


def test_placeholders_are_the_same_in_another_process() -> None:
    secret = "sk-ant-" + RUN
    code = "import sys; from core.redact import mask; print(mask(sys.argv[1]).value)"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    printed = subprocess.run(
        [sys.executable, "-c", code, secret], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == mask(secret).value


def test_a_masked_value_is_masked_no_further() -> None:
    values = [secret for _, secret in SECRETS] + [place.format(SECRETS[0][1]) for place in PLACES]
    values += ["Authorization: Bearer " + RUN, "https://a:b@c.example/", {"api_key": RUN}]
    once = mask(values).value
    assert mask(once).value is once


def test_keys_are_masked_and_two_keys_never_fall_together() -> None:
    secret = "ghp_" + RUN[:36]
    masked = mask({mask(secret).value: 1, secret: 2})
    assert masked.found == {"github-token": 1}
    assert list(masked.value.values()) == [1, 2]
    assert secret not in json.dumps(masked.value)


def test_the_input_is_not_changed() -> None:
    body = {"b": [{"text": secret} for _, secret in SECRETS], "a": {"api_key": RUN}, "n": [1, None, True, 1.5]}
    before = copy.deepcopy(body)
    masked = mask(body)
    assert body == before
    assert list(masked.value) == ["b", "a", "n"]
    assert masked.value["n"] == [1, None, True, 1.5]


def test_a_transcript_is_masked_everywhere() -> None:
    secret = "sk-ant-" + RUN
    wire = {"role": "user", "content": f"my key {secret}"}
    call = Call(
        head=0, history=0, captured=0, response=wire, variants=((0, wire),), hints={"goal": secret},
        at=datetime(2026, 1, 2, tzinfo=UTC), model="gpt-4o",
    )  # fmt: skip
    transcript = Transcript(
        "openai_chat", (wire,), (-1,), ({"messages": [wire]},), (call,),
        title=secret, source=secret, session=secret, notes=(secret,), meta={"env": {"K": secret}},
    )  # fmt: skip
    masked, found = mask_transcript(transcript)
    assert found == {"anthropic-key": 10}
    assert secret not in repr(masked)
    assert masked.calls[0].at == call.at
    assert masked.calls[0].model == "gpt-4o"
    clean = masked
    assert mask_transcript(clean) == (clean, {})


def is_no_credential_field(name: str) -> bool:
    return not is_credential_field(name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(is_no_credential_field), inner),
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_value_without_a_secret_comes_back_as_it_was(value: object) -> None:
    assert mask(value).value is value


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([secret for _, secret in SECRETS]) | st.text(max_size=20), max_size=6))
def test_no_secret_is_left_however_they_are_joined(parts: list[str]) -> None:
    left = mask(" ".join(parts)).value
    assert not [secret for _, secret in SECRETS if secret in left]
    assert mask(left).value == left


def test_a_value_deeper_than_any_stack() -> None:
    value: object = "sk-ant-" + RUN
    for _ in range(50_000):
        value = [value]
    assert mask(value).found == {"anthropic-key": 1}
