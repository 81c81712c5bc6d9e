"""A field for credentials is one however a call is spelt, and what it holds is replaced if it is a secret."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.redact import mask
from core.secret_values import is_credential_field, is_phrase, looks_secret

RUN = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2"
HEX = "0123456789abcdef" * 2
LETTERS = "qzjwkvbnmxtrplsdfghc"
"""A key without a digit."""


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("authorization_token", LETTERS, {"credential": 1}),
        ("X-Api-Key", LETTERS, {"credential": 1}),
        ("api_key", RUN, {"credential": 1}),
        ("OPENAI_API_KEY", HEX, {"credential": 1}),
        ("clientSecret", "k3_:[?tXWn", {"credential": 1}),
        ("api_key", "hunter2hunter2", {"credential": 1}),
        ("authorization", "Token " + HEX, {"credential": 1}),
        ("authorization", "Bearer " + RUN, {"bearer-token": 1}),
        ("api_key", "sk-ant-" + RUN, {"anthropic-key": 1}),
        ("api_key", "${API_KEY}", {}),
        ("api_key", "<your key>", {}),
        ("api_key", "", {}),
        ("api_key", 12345678901234567890, {}),
        ("authorization", "required for all calls", {}),
        ("description", LETTERS, {}),
        ("api_key_id", HEX, {}),
    ],
)
def test_fields_for_credentials_hold_secrets_of_any_shape(field: str, value: object, found: dict[str, int]) -> None:
    body = {"mcp_servers": [{"url": "https://x.example", field: value}]}
    masked = mask(body)
    assert masked.found == found
    assert list(masked.value["mcp_servers"][0]) == ["url", field]
    assert (masked.value == body) == (not found)


FIELDS = ["authorization", "api_key", "apiKey", "OPENAI_API_KEY", "access_token", "refresh-token", "client_secret",
          "privateKey", "AWS_SECRET_ACCESS_KEY"]  # fmt: skip
SPELLINGS: list[Callable[[str, str], Any]] = [
    lambda name, value: {"input": {name: value}},
    lambda name, value: {"arguments": json.dumps({name: value})},
    lambda name, value: {"arguments": json.dumps({name: value}, indent=2)},
    lambda name, value: {"content": json.dumps([json.dumps({"q": 1, name: value})])},
    lambda name, value: {"content": f"{{'{name}': '{value}'}}"},
    lambda name, value: {"content": f"DEBUG=1\n{name}={value}\nPORT=80"},
    lambda name, value: {"content": f'export {name}="{value}"'},
    lambda name, value: {"content": f"{name}: {value}"},
    lambda name, value: {"content": f"https://x.example/?a=1&{name}={value}&b=2"},
]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [HEX, LETTERS, RUN[:24]])
@pytest.mark.parametrize("spelt", SPELLINGS)
def test_one_secret_is_found_in_every_spelling(spelt: Callable[[str, str], Any], field: str, value: str) -> None:
    placeholder = mask({"api_key": value}).value["api_key"]
    masked = mask(spelt(field, value))
    assert (masked.value, masked.found) == (spelt(field, placeholder), {"credential": 1})
    assert mask(masked.value).found == {}


@pytest.mark.parametrize("scheme", ["Token", "Bot", "ApiKey", "OAuth"])
def test_the_scheme_before_a_secret_stays(scheme: str) -> None:
    header = {"authorization": f"{scheme} {HEX}"}
    left = {"authorization": f"{scheme} {mask({'api_key': HEX}).value['api_key']}"}
    assert mask(header).value == left
    assert mask({"content": json.dumps(header)}).value == {"content": json.dumps(left)}


NO_SECRETS = [
    *("required", "disabled", "OPENAI_API_KEY", "from-keychain", "environment", "undefined", "oauth2", "Required"),
    *("your-api-key-here", "YOUR_API_KEY_HERE_1234", "self.config.api_key", "x-api-key", "process.env.KEY"),
    *("{{secrets.key1}}", "${API_KEY}", "********", "AWS_S3_ACCESS_KEY"),
    *("REDACTEDxxxxxxxx", "sk-xxxxxxxxxxxxxxxxxxxxxx", "sk-...a1b2", "abc1234"),
]
NO_SECRETS_IN_TEXTS = [
    *("internationalisation", "settings.keys.openai_v2", "config/keys/production-2024.json", "~/.ssh/id_ed25519"),
    *("https://auth.example.com/login/2", "get_token2()", "os.environ['KEY2']", "<username>:<password1>"),
    *("authentication-scheme-rfc6750", "./keys/id_rsa.pub", "production-configuration"),
]
"""Words, paths and code, which a secret in an object's own field may look like too."""


@pytest.mark.parametrize("value", NO_SECRETS)
def test_words_about_a_secret_stay_in_every_spelling(value: str) -> None:
    for spelt in SPELLINGS:
        for field in ("authorization", "api_key", "ACCESS_TOKEN"):
            assert mask(spelt(field, value)).found == {}, spelt(field, value)


@pytest.mark.parametrize("value", NO_SECRETS_IN_TEXTS)
def test_what_is_in_doubt_stays_in_texts_and_goes_from_fields(value: str) -> None:
    for field in ("authorization", "api_key", "ACCESS_TOKEN"):
        assert mask({field: value}).found == {"credential": 1}
        for spelt in SPELLINGS[1:]:
            assert mask(spelt(field, value)).found == {}, spelt(field, value)


ALPHABETS = [
    string.ascii_lowercase,
    string.ascii_uppercase,
    string.ascii_letters,
    string.ascii_uppercase + "234567",
    "0123456789abcdef",
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "-_",
    string.ascii_letters + string.digits + "+/",
]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("length", [10, 12, 16, 20, 32, 64])
def test_every_random_value_of_a_field_is_a_secret(alphabet: str, length: int) -> None:
    drawn = random.Random(7)
    for _ in range(300):
        value = "".join(drawn.choices(alphabet, k=length))
        assert mask({"api_key": value}).value != {"api_key": value}


@pytest.mark.parametrize(
    "value",
    [
        *("abc{def}1234567890", "a1b2c3d4xxxxxx99", "deadbeefdeadbeef", "hunter-two-pass", "password", "aaaaaaaa"),
        *("pctaegMIcmAsNqjScvuxiyyDHyPMRJgN", "prod.access-token.v2.2024", "GEZDGNBVGY3TQOJQ", "first\nsecond\n"),
    ],
)
@pytest.mark.parametrize("field", ["authorization", "X-Goog-Api-Key", "client_secret"])
def test_what_may_be_a_secret_goes_from_fields(field: str, value: str) -> None:
    assert mask([{field: value}]).found == {"credential": 1}


LOGINS = ["u:p", ":", "a:", "user:pass", "ann:long-password-of-hers"]


@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("padding", ["", "="])
@pytest.mark.parametrize(
    "place", ['{{"Authorization": "Basic {}"}}', "Authorization: Basic {}", "authorization=BASIC {}"]
)
def test_a_login_is_masked_whatever_its_length(place: str, padding: str, login: str) -> None:
    written = base64.b64encode(login.encode()).decode()
    text = place.format(written if padding else written.rstrip("="))
    assert list(mask({"content": text}).found) == ["basic-login"]
    field = {"Authorization": f"Basic {written}"}
    masked = mask(field)
    assert sum(masked.found.values()) == 1 and masked.value["Authorization"].startswith("Basic [secret:")


@pytest.mark.parametrize("text", ["Basic auth", "Basic login", "basic required", "Basic authentication"])
def test_words_after_basic_stay(text: str) -> None:
    assert mask({"Authorization": text}).found == {}


@pytest.mark.parametrize("value", ["getApiKeyFromEnv", "a-b-c-d-e-f", "is-of-to-in", "aBcdEfgh"])
def test_short_words_and_case_that_changes_again_make_no_phrase(value: str) -> None:
    assert not is_phrase(value)


def test_random_letters_make_no_phrase() -> None:
    drawn = random.Random(7)
    values = ["".join(drawn.choices(string.ascii_letters, k=32)) for _ in range(2000)]
    assert not [value for value in (*values, "pctaegMIcmAsNqjScvuxiyyDHyPMRJgN") if is_phrase(value)]


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "object", "properties": {"authorization": {"type": "string"}}, "required": ["authorization"]}',
        "api_key = build_header_v2(client)",
        "api_key=\nNEXT_SETTING_OF_1234567890=1",
        "max_tokens=1234567890123456, next_token: a1b2c3d4e5f6a7b8c9",
        "the api key and the access token 0123456789abcdef",
        "apiKey: string; accessToken?: string1234567890123456",
    ],
)
def test_what_is_no_value_of_such_a_field_stays(text: str) -> None:
    assert mask({"content": text}).found == {}


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *((name, True) for name in ("Authorization", "Proxy-Authorization", "x-goog-api-key", "accessToken", "APIKEY")),
        *((name, False) for name in ("api_keys", "api_key_id", "max_tokens", "key", "authorization_url", "")),
    ],
)
def test_a_field_is_for_credentials_by_the_end_of_its_name(name: str, is_one: bool) -> None:
    assert is_credential_field(name) is is_one


@given(st.text(alphabet="0123456789abcdef", min_size=21, max_size=64))
def test_random_digits_are_always_a_secret(value: str) -> None:
    assert looks_secret(value)


@pytest.mark.parametrize(
    "value",
    [
        "6f1c2a9e-41d7-4c0b-9a53-0d8e7b6f2c11",
        "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
        "ab12-cd34-ef56-gh78",
        "aBcDeFgHiJkLmNoPqRsT",
        "dGhpcyBpcyBhIHRlc3Q=",
        "s3cret-pass-word",
        "p@ssw0rd",
    ],
)
def test_a_secret_with_signs_in_it_is_no_phrase(value: str) -> None:
    assert looks_secret(value)
