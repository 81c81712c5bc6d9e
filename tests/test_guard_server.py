"""The guard stands in front of the real app: every route, the websocket, and a server of its own."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from storage.database import open_engine
from storage.library import Library
from tests.stores import ROOT, openai_body, openai_response

TOKEN = "a-token-for-this-test"


PROBE = """
import asyncio, json, sys
from app import app

def scope_of(route, client, server, host):
    path = route.path
    for name in getattr(route, "param_convertors", {}):
        path = path.replace("{" + name + ":path}", "x").replace("{" + name + "}", "x")
    kind = "http" if getattr(route, "methods", None) is not None else "websocket"
    if type(route).__name__ == "Mount":
        kind = "http"
        path = route.path + "/x"
    return {
        "type": kind, "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "scheme": "http",
        "headers": [(b"host", host.encode())], "client": client, "server": server, "http_version": "1.1",
        "extensions": {"websocket.http.response": {}}, "subprotocols": [], "asgi": {"version": "3.0"},
    }

async def ask(scope):
    sent = []
    async def receive():
        return {"type": "http.request", "body": b""} if scope["type"] == "http" else {"type": "websocket.disconnect"}
    async def send(message):
        sent.append(message)
    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0].get("status"), body.decode("utf-8", "replace")[:300]

async def main():
    built = app._starlette_app = app._build_starlette_app()
    found = []
    for route in built.routes:
        methods = sorted(getattr(route, "methods", None) or ["GET"])
        for method in methods:
            for name, client, server, host in (
                ("remote", ("203.0.113.9", 5), ("192.0.2.1", 8501), "localhost:8501"),
                ("half", ("127.0.0.1", 5), ("192.0.2.1", 8501), "localhost:8501"),
                ("foreign", ("127.0.0.1", 5), ("127.0.0.1", 8501), "evil.example"),
            ):
                scope = scope_of(route, client, server, host)
                scope["method"] = method
                found.append([name, scope["type"], method, scope["path"], *await ask(scope)])
    print(json.dumps(found))

asyncio.run(main())
"""


def test_every_route_of_the_app_is_behind_the_guard(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMPT_INSPECTOR_DB": f"sqlite:///{tmp_path / 'store.db'}"}
    ran = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout.splitlines()[-1])
    asked = {(kind, path) for _, kind, _, path, *_ in found}
    for expected in (("http", "/api/capture"), ("http", "/healthz"), ("websocket", "/_stcore/stream")):
        assert expected in asked
    assert len(asked) > 10
    for name, kind, method, path, status_given, body in found:
        place = f"{name} {kind} {method} {path}"
        assert status_given == 403, place
        expected_words = "does not answer to the host" if name == "foreign" else "Only this machine may"
        assert expected_words in json.loads(body)["error"], place


class Server:
    """The real app on a free port of this machine."""

    def __init__(self, folder: Path, **environment: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={self.port}"]
        variables = {**os.environ, "PROMPT_INSPECTOR_DB": f"sqlite:///{folder / 'store.db'}", **environment}
        self.folder, self.token = folder, environment.get("PROMPT_INSPECTOR_TOKEN", "")
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=self.log, stderr=self.log)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else json.dumps(body)
        named = {"Content-Type": "application/json"} if body is not None else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, content, named)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, text

    def open_socket(self, host: str = "", origin: str = "") -> None:
        """Open the page's websocket, as a browser would that believes to be on `host`. InvalidStatus if refused."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        address = f"ws://{host or f'localhost:{self.port}'}/_stcore/stream"
        headers = {"Origin": origin} if origin else {}
        with connect(address, sock=plain, additional_headers=headers, subprotocols=["streamlit"], proxy=None):
            pass

    def wait(self) -> None:
        for _ in range(600):
            try:
                if self.ask("GET", "/healthz")[0] in (200, 401):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


@pytest.fixture(scope="module", params=[{}, {"PROMPT_INSPECTOR_TOKEN": TOKEN}], ids=["plain", "token"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("server"), **request.param)
    try:
        started.wait()
        yield started
    finally:
        started.stop()


def test_the_real_server_answers_this_machine(server: Server) -> None:
    assert server.ask("GET", "/")[0] == 200
    assert json.loads(server.ask("GET", "/healthz")[1])["status"] == "ok"
    server.open_socket()
    server.open_socket(origin=f"http://localhost:{server.port}")
    headers = {"Authorization": f"Bearer {TOKEN}"} if server.token else {}
    body = {"request": openai_body(1), "response": openai_response(0), "session": "s"}
    given, text = server.ask("POST", "/api/capture", body, **headers)
    assert given == 201, text
    if server.token:
        assert server.ask("POST", "/api/capture", body)[0] == 401
        assert server.ask("POST", "/api/capture", body, Authorization="Bearer other")[0] == 401
    for method, path, expected in (("GET", "/api/capture", 405), ("GET", "/api/x", 404), ("POST", "/v1/traces", 404)):
        given, text = server.ask(method, path, **headers)
        assert (given, list(json.loads(text))) == (expected, ["error"]), path


@pytest.mark.parametrize("path", ["/", "/compare", "/healthz", "/_stcore/health", "/_stcore/host-config", "/static/x"])
def test_the_real_server_refuses_a_foreign_host(path: str, server: Server) -> None:
    given, text = server.ask("GET", path, Host="evil.example")
    assert given == 403
    assert "This server does not answer to the host 'evil.example'." in json.loads(text)["error"]


def test_the_real_server_refuses_a_websocket_of_a_foreign_host_or_page(server: Server) -> None:
    for host, origin in (("evil.example", ""), ("", "http://evil.example"), ("", "http://localhost:1")):
        with pytest.raises(InvalidStatus) as refused:
            server.open_socket(host, origin)
        assert refused.value.response.status_code == 403
        assert "error" in json.loads(refused.value.response.body or b"{}")


def test_the_real_server_refuses_what_a_proxy_sends_for_others(server: Server) -> None:
    given, text = server.ask("GET", "/", X_Forwarded_For="203.0.113.9")
    assert (given, "Only this machine may open these pages." in text) == (403, True)


def test_the_real_server_refuses_posts_from_pages_of_other_sites(server: Server) -> None:
    given, text = server.ask("POST", "/api/capture", {"request": openai_body(1)}, Origin="http://evil.example")
    assert (given, "A page of another site (http://evil.example)" in text) == (403, True)


def test_what_was_answered_is_there_after_the_server_was_killed(tmp_path: Path) -> None:
    server = Server(tmp_path)
    try:
        server.wait()
        for call in range(5):
            body = {"request": openai_body(call + 1), "response": openai_response(call), "session": "s"}
            given, text = server.ask("POST", "/api/capture", body)
            assert given == 201, text
        server.process.kill()
    finally:
        server.stop()
    library = Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))
    stored = library.get(json.loads(text)["transcript"])
    assert [stored.captured(call) for call in range(5)] == [openai_body(call + 1) for call in range(5)]
    library.engine.dispose()
