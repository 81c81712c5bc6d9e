"""The one gate in front of pages, websocket and routes. What is behind it holds private transcripts.

A name that an attacker points at 127.0.0.1 reaches a local server with the attacker's page in the browser (DNS
rebinding), and any page can post to localhost. So the `Host` must be one we answer to, and a browser that names
another `Origin` is refused. Whatever did not arrive on loopback, seen from both ends of the connection and from the
headers that a proxy adds, is refused too, unless the person who runs the server opened it.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Access", "Guard", "middleware"]

TOKEN, HOSTS, OPEN = "PROMPT_INSPECTOR_TOKEN", "PROMPT_INSPECTOR_HOSTS", "PROMPT_INSPECTOR_OPEN"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
ROUTES = ("/api", "/v1")
"""Where programs call, with the token if there is one."""
HEALTH = "/healthz"
"""Tells no more than whether the store answers, so it needs no token on loopback."""
FORWARDED_BY = ("x-forwarded-for", "x-real-ip", "forwarded")


class Refusal(NamedTuple):
    """An answer instead of the page: a status and a sentence."""

    status: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in. `hosts` may hold `*.example.com` and `*`."""

    token: str = field(default="", repr=False)
    hosts: frozenset[str] = frozenset()
    open: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Access:
        """Read `PROMPT_INSPECTOR_TOKEN`, `PROMPT_INSPECTOR_HOSTS` (with commas between) and `PROMPT_INSPECTOR_OPEN`."""
        hosts = (host.strip().lower().rstrip(".") for host in environment.get(HOSTS, "").split(","))
        opened = environment.get(OPEN, "").strip().lower() in ("1", "true", "yes", "on")
        return cls(environment.get(TOKEN, "").strip(), frozenset(filter(None, hosts)), opened)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request or a websocket may not pass; None if it may."""
        headers = Headers(scope=scope)
        return self._wrong_host(headers) or self._wrong_origin(scope, headers) or self._wrong_sender(scope, headers)

    def _wrong_host(self, headers: Headers) -> Refusal | None:
        given = headers.getlist("host")
        name = _host_name(given[0]) if len(given) == 1 else None
        if name is not None and (name in LOCAL_NAMES or self._named(name)):
            return None
        shown = ", ".join(given) or "(none)"
        return Refusal(403, f"This server does not answer to the host {shown!r}. Add it to {HOSTS} if it is yours.")

    def _named(self, name: str) -> bool:
        return any(host in ("*", name) or (host.startswith("*.") and name.endswith(host[1:])) for host in self.hosts)

    def _wrong_origin(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Refuse what a browser sends for a page of another site. Programs send no `Origin`."""
        if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is None and headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return None
        parts = _split(origin or "")
        if parts is not None and (parts.netloc.lower() == headers["host"].lower() or self._named(parts.hostname or "")):
            return None
        return Refusal(403, f"A page of another site ({origin or 'unknown'}) may not use this server.")

    def _wrong_sender(self, scope: Scope, headers: Headers) -> Refusal | None:
        path = scope["path"]
        routed = any(path == route or path.startswith(route + "/") for route in ROUTES)
        if routed and self.token:
            return self._wrong_token(headers)
        if self.open or _on_loopback(scope, headers):
            return None
        if path == HEALTH and self.token:
            return self._wrong_token(headers)
        if routed or path == HEALTH:
            return Refusal(
                403, f"Only this machine may call {path}. Set {TOKEN} on the server and send it as a bearer."
            )
        return Refusal(403, f"Only this machine may open these pages. Set {OPEN}=1 if the server's network is trusted.")

    def _wrong_token(self, headers: Headers) -> Refusal | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("latin-1", "replace"), self.token.encode())
        if same and scheme.lower() == "bearer":
            return None
        return Refusal(401, f"{TOKEN} is set here: send it as `Authorization: Bearer <token>`.")


class Guard:
    """ASGI middleware that lets through what `Access` allows."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal, or pass the request on."""
        refusal = self.access.refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await _answer(send, "http.response", refusal)
        elif "websocket.http.response" in scope.get("extensions", {}):
            await _answer(send, "websocket.http.response", refusal)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.sentence[:120]})


def middleware(environment: Mapping[str, str] = os.environ) -> list[Middleware]:
    """Return the guard as `st.App` takes it."""
    return [Middleware(Guard, access=Access.from_environment(environment))]


async def _answer(send: Send, kind: str, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})


def _split(url: str) -> Any:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  raises on a port that is none
    except ValueError:
        return None
    return parts


def _host_name(host: str) -> str | None:
    """Return the name in a Host header in lower case; None if it is no host."""
    parts = _split(f"//{host}")
    if parts is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname.rstrip(".") if parts.hostname else None


def _on_loopback(scope: Scope, headers: Headers) -> bool:
    """Return whether both ends, and whoever a proxy speaks for, are this machine. An unknown end is not."""
    ends = [(scope.get(end) or ("",))[0] for end in ("client", "server")]
    return all(map(_is_loopback, [*ends, *_forwarded(headers)]))


def _forwarded(headers: Headers) -> Iterable[str]:
    for name in FORWARDED_BY:
        for hop in re.split("[,;]", ",".join(headers.getlist(name)).lower()):
            if hop.strip() and (name != "forwarded" or hop.strip().startswith("for=")):
                yield hop.strip().removeprefix("for=").strip('"')


def _is_loopback(address: str) -> bool:
    """Return whether an address, with or without a port, is this machine."""
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return bool((getattr(found, "ipv4_mapped", None) or found).is_loopback)
