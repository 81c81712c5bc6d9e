"""Nothing behind the guard answers a foreign host, another site's page or another machine, unless it was opened."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message, Scope

from storage.guard import Access, Guard

TOKEN = "a-token-for-this-test"
LOCAL = ("127.0.0.1", 50_000)
REMOTE = ("203.0.113.9", 50_000)
HERE = ("127.0.0.1", 8501)


def scope_of(
    path: str = "/",
    method: str = "GET",
    kind: str = "http",
    client: Any = LOCAL,
    server: Any = HERE,
    **headers: str | list[str],
) -> Scope:
    """Return the scope of a request; an underscore in a header's name is a hyphen."""
    named = {"host": "localhost:8501", **headers}
    pairs = [(name, each) for name, value in named.items() for each in (value if isinstance(value, list) else [value])]
    scope: Scope = {
        "type": kind,
        "path": path,
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in pairs],
        "client": client,
        "server": server,
    }
    return scope | ({"method": method} if kind == "http" else {})


def status(access: Access, scope: Scope) -> int:
    """Return the status of a refusal, 200 where there is none."""
    refusal = access.refusal(scope)
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("localhost", True),
        ("localhost:8501", True),
        ("LOCALHOST.:8501", True),
        ("127.0.0.1:8501", True),
        ("[::1]:8501", True),
        ("[::1]", True),
        ("evil.example", False),
        ("evil.example:8501", False),
        ("localhost.evil.example", False),
        ("evil-localhost", False),
        ("localhost@evil.example", False),
        ("evil.example@localhost", False),
        ("localhost/evil", False),
        ("localhost:evil", False),
        ("localhost:99999", False),
        ("192.168.1.5:8501", False),
        ("0.0.0.0:8501", False),
        ("127.0.0.1.nip.example", False),
        ("[::1", False),
        ("", False),
        (["localhost", "evil.example"], False),
        (["evil.example", "localhost"], False),
        ([], False),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("path", ["/", "/api/capture", "/healthz", "/_stcore/stream"])
def test_only_known_hosts_are_answered(host: Any, passes: bool, kind: str, path: str) -> None:
    refusal = Access(open=True).refusal(scope_of(path, kind=kind, host=host))
    assert (refusal is None) == passes
    if refusal is not None:
        assert refusal.status == 403
        assert refusal.sentence.startswith("This server does not answer to the host ")
        assert refusal.sentence.endswith("Add it to PROMPT_INSPECTOR_HOSTS if it is yours.")


@pytest.mark.parametrize(
    ("hosts", "host", "passes"),
    [
        ("inspector.example.org", "inspector.example.org:443", True),
        ("inspector.example.org", "other.example.org", False),
        (" A.example , b.EXAMPLE. ,,", "b.example", True),
        ("*.example.org", "deep.in.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "evilexample.org", False),
        ("*", "anything.example", True),
        ("*", "localhost:evil", False),
        ("a.example", "localhost", True),
    ],
)
def test_hosts_can_be_added(hosts: str, host: str, passes: bool) -> None:
    access = Access.from_environment({"PROMPT_INSPECTOR_HOSTS": hosts})
    assert (access.refusal(scope_of(host=host)) is None) == passes


ENDS = [
    (LOCAL, HERE, True),
    (("127.8.9.1", 1), HERE, True),
    (("::1", 1, 0, 0), ("::1", 8501, 0, 0), True),
    (("::ffff:127.0.0.1", 1), ("::ffff:127.0.0.1", 8501), True),
    (REMOTE, HERE, False),
    (LOCAL, ("192.0.2.1", 8501), False),
    (REMOTE, ("192.0.2.1", 8501), False),
    (("::ffff:203.0.113.9", 1), ("::ffff:127.0.0.1", 8501), False),
    (("10.0.0.7", 1), ("10.0.0.7", 8501), False),
    (("172.17.0.1", 1), ("172.17.0.2", 8501), False),
    (("fe80::1%eth0", 1), ("::1", 8501), False),
    (None, HERE, False),
    (LOCAL, None, False),
    (("", 0), HERE, False),
    (("localhost", 0), HERE, False),
    (LOCAL, ("/run/app.sock", None), False),
]


@pytest.mark.parametrize(("client", "server", "passes"), ENDS)
@pytest.mark.parametrize(("path", "kind"), [("/", "http"), ("/_stcore/stream", "websocket"), ("/api/capture", "http")])
def test_both_ends_must_be_this_machine(client: Any, server: Any, passes: bool, path: str, kind: str) -> None:
    scope = scope_of(path, kind=kind, client=client, server=server)
    assert status(Access(), scope) == (200 if passes else 403)
    assert status(Access(open=True), scope) == 200


@pytest.mark.parametrize(
    ("name", "value", "passes"),
    [
        ("x_forwarded_for", "127.0.0.1", True),
        ("x_forwarded_for", "::1", True),
        ("x_forwarded_for", "203.0.113.9", False),
        ("x_forwarded_for", "127.0.0.1, 203.0.113.9", False),
        ("x_forwarded_for", "203.0.113.9:4711", False),
        ("x_forwarded_for", "127.0.0.1:4711", True),
        ("x_forwarded_for", ["127.0.0.1", "203.0.113.9"], False),
        ("x_forwarded_for", "unknown", False),
        ("x_real_ip", "203.0.113.9", False),
        ("x_real_ip", "127.0.0.1", True),
        ("forwarded", "for=203.0.113.9;proto=https", False),
        ("forwarded", 'For="[2001:db8::1]:4711"', False),
        ("forwarded", 'for="[::1]:4711";host=localhost', True),
        ("forwarded", "proto=https;for=127.0.0.1", True),
        ("forwarded", "for=127.0.0.1, for=203.0.113.9", False),
        ("forwarded", "for=_hidden", False),
    ],
)
def test_a_proxy_on_this_machine_speaks_for_whom_it_names(name: str, value: Any, passes: bool) -> None:
    assert status(Access(), scope_of(**{name: value})) == (200 if passes else 403)


@pytest.mark.parametrize("path", ["/api", "/api/capture", "/api/configs/production", "/v1/traces", "/api/"])
@pytest.mark.parametrize("client", [LOCAL, REMOTE])
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize(
    ("given", "passes"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN} ", True),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer ", False),
        ("Bearer", False),
        ("Bearer \xe4", False),
        ("", False),
        (None, False),
    ],
)
def test_a_token_is_always_needed_where_one_is_set(
    path: str, client: Any, opened: bool, given: str | None, passes: bool
) -> None:
    headers = {} if given is None else {"authorization": given}
    refusal = Access(TOKEN, open=opened).refusal(scope_of(path, "POST", client=client, **headers))
    assert (refusal is None) == passes
    if refusal is not None:
        assert refusal.status == 401
        assert TOKEN not in refusal.sentence


@pytest.mark.parametrize("path", ["/", "/compare", "/_stcore/stream", "/apish", "/media/api/x", "/v10"])
def test_a_token_opens_no_page(path: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert status(Access(TOKEN), scope_of(path, client=REMOTE, **headers)) == 403
    assert status(Access(TOKEN), scope_of(path)) == 200


@pytest.mark.parametrize(
    ("access", "client", "headers", "expected"),
    [
        (Access(), LOCAL, {}, 200),
        (Access(), REMOTE, {}, 403),
        (Access(TOKEN), LOCAL, {}, 200),
        (Access(TOKEN), REMOTE, {}, 401),
        (Access(TOKEN), REMOTE, {"authorization": f"Bearer {TOKEN}"}, 200),
        (Access(TOKEN, open=True), REMOTE, {}, 200),
    ],
)
def test_health_needs_no_token_here(access: Access, client: Any, headers: dict[str, str], expected: int) -> None:
    assert status(access, scope_of("/healthz", client=client, **headers)) == expected


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, True),
        ({"origin": "http://localhost:8501"}, True),
        ({"origin": "https://localhost:8501"}, True),
        ({"origin": "http://LOCALHOST:8501"}, True),
        ({"origin": "http://localhost:3000"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://localhost:8501.evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "none"}, True),
        ({"origin": "http://localhost:8501", "sec_fetch_site": "same-origin"}, True),
        ({"origin": "https://team.example"}, True),
    ],
)
@pytest.mark.parametrize(("kind", "method"), [("http", "POST"), ("http", "DELETE"), ("websocket", "")])
def test_a_page_of_another_site_may_not_write(headers: Any, passes: bool, kind: str, method: str) -> None:
    access = Access(hosts=frozenset({"team.example"}), open=True)
    for path in ("/api/capture", "/_stcore/upload_file/a/b", "/_stcore/stream"):
        assert status(access, scope_of(path, method, kind, **headers)) == (200 if passes else 403)
    assert status(access, scope_of("/", "GET", **headers)) == 200


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Access()),
        ({"PROMPT_INSPECTOR_OPEN": "1"}, Access(open=True)),
        ({"PROMPT_INSPECTOR_OPEN": "true"}, Access(open=True)),
        ({"PROMPT_INSPECTOR_OPEN": "0"}, Access()),
        ({"PROMPT_INSPECTOR_OPEN": ""}, Access()),
        ({"PROMPT_INSPECTOR_TOKEN": f" {TOKEN}\n"}, Access(TOKEN)),
        ({"PROMPT_INSPECTOR_HOSTS": "a.example, B.example"}, Access(hosts=frozenset({"a.example", "b.example"}))),
    ],
)
def test_the_environment_says_who_may_come_in(environment: dict[str, str], expected: Access) -> None:
    assert Access.from_environment(environment) == expected
    assert TOKEN not in repr(expected)


def call(scope: Scope, token: str = "") -> tuple[bool, list[Message]]:
    """Send a scope through the guard; return whether the app was reached, and what was answered."""
    sent: list[Message] = []
    reached = False

    async def app(*_: Any) -> None:
        nonlocal reached
        reached = True

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    asyncio.run(Guard(app, Access(token))(scope, receive, send))
    return reached, sent


def test_a_refused_request_never_reaches_the_app() -> None:
    reached, (start, body) = call(scope_of("/api/capture", "POST"), TOKEN)
    assert not reached
    assert (start["type"], start["status"]) == ("http.response.start", 401)
    assert dict(start["headers"])[b"www-authenticate"] == b"Bearer"
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    said = "PROMPT_INSPECTOR_TOKEN is set here: send it as `Authorization: Bearer <token>`."
    assert json.loads(body["body"]) == {"error": said}


def test_a_refused_websocket_is_closed_before_it_opens() -> None:
    scope = scope_of("/_stcore/stream", kind="websocket", client=REMOTE)
    reached, (close,) = call(scope)
    assert not reached
    assert (close["type"], close["code"]) == ("websocket.close", 1008)
    reached, (start, body) = call(scope | {"extensions": {"websocket.http.response": {}}})
    assert not reached
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 403)
    assert json.loads(body["body"])["error"].startswith("Only this machine may open these pages.")


def test_what_may_pass_reaches_the_app_unchanged() -> None:
    assert call(scope_of()) == (True, [])
    assert call({"type": "lifespan"}) == (True, [])
