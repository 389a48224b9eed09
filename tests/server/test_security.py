"""Tokens and scopes on every route, requests of other sites and hosts, safe headers, and the number of requests."""

import asyncio
import logging

import pyarrow as pa
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from asgi import ask, asked
from suffice import NaiveBayes
from suffice.server import security
from suffice.server.app import build
from suffice.server.hosting import Hosts, open_host
from suffice.server.problems import Problem
from suffice.server.security import LARGE, SAFE_HEADERS, Guard, document_policy, is_loopback
from suffice.server.settings import Limits, Settings
from suffice.server.tokens import Tokens

READ, LEARN = "reads-only-" + "r" * 12, "learns-too-" + "l" * 12
TOKENS = Tokens.of({READ: "read", LEARN: "learn"})
OPEN = ["GET /", "GET /assets/{name}", "GET /health", "GET /ready"]
READS = [
    "GET /models",
    "GET /metrics",
    "GET /openapi.json",
    "GET /models/{name}",
    *(
        f"{method} {start}{path}"
        for start in ("", "/models/{name}")
        for method, path in [
            ("GET", "/model"),
            ("GET", "/report"),
            ("GET", "/drift"),
            ("GET", "/window"),
            ("POST", "/predict"),
            ("POST", "/explain"),
            ("POST", "/score"),
            ("POST", "/sample"),
        ]
    ),
]
LEARNS = [f"POST {start}{path}" for start in ("", "/models/{name}") for path in ("/learn", "/unlearn", "/prior")]
NEEDED = {**dict.fromkeys(OPEN, "open"), **dict.fromkeys(READS, "read"), **dict.fromkeys(LEARNS, "learn")}
ROWS = b'{"rows": [{"x": 1.5}]}'
JSON = ("Content-Type", "application/json")


def bearer(token):
    return [("Authorization", f"Bearer {token}")]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """One model, which learns."""
    path = tmp_path_factory.mktemp("models") / "m.suffice"
    NaiveBayes().fit(pa.table({"x": [1.0, 2.0, 5.0, 7.0]}), ["a", "a", "b", "b"]).save(path)
    found = Hosts([open_host("m", str(path), Settings(learn=True))])
    yield found
    found.close()


@pytest.fixture(scope="module")
def app(hosts):
    return started(build(hosts, Settings(learn=True, host_names=("models.example", "10.1.2.3", "fd00::5")), TOKENS))


@pytest.fixture(scope="module")
def local(hosts):
    """Without tokens."""
    return started(build(hosts, Settings(learn=True)))


def router_of(app):
    """The application within its layers."""
    while not isinstance(app, Starlette):
        app = app._app
    return app


def started(app):
    """An application as it is when the server runs."""
    router_of(app).state.ready = True
    return app


def routes_of(app):
    """Methods and templates of all routes, from the router of the application."""
    app = router_of(app)
    assert all(isinstance(each, Route) for each in app.routes)
    return [f"{method} {each.path}" for each in app.routes for method in sorted(each.methods - {"HEAD"})]


# ---------------------------------------------------------------------- tokens


def test_each_route_has_a_scope(app):
    assert sorted(routes_of(app)) == sorted(NEEDED)


@pytest.mark.parametrize("route", NEEDED)
def test_a_route_answers_only_with_a_token_of_its_scope(app, route):
    method, path = route.replace("{name}", "m").split(" ")
    needed = NEEDED[route]
    body = b"{}" if method == "POST" else b""  # which no route accepts: nothing is learned
    for headers, scope in [
        ([], None),
        (bearer("wrong" * 5), None),
        (bearer(READ), "read"),
        (bearer(LEARN), "learn"),
        ([("Authorization", f"Basic {LEARN}")], None),
    ]:
        found = ask(app, method, path, headers, body)
        if needed != "open" and scope is None:
            assert found.status == 401
            assert found.header("www-authenticate").startswith("Bearer")
            assert "token" in found.problem["detail"]
        elif needed == "learn" and scope == "read":
            assert found.status == 403
            assert 'scope="learn"' in found.header("www-authenticate")
            assert "reading only" in found.problem["detail"]
        else:
            assert found.status not in (401, 403)
            assert found.status < 500


def test_small_requests_pass_the_same_checks(app):
    """Predictions of a few rows skip the router."""
    for path in ("/predict", "/models/m/predict"):
        assert ask(app, "POST", path, [JSON], ROWS).status == 401
        assert ask(app, "POST", path, [JSON, *bearer("wrong" * 5)], ROWS).status == 401
        assert ask(app, "POST", path, [JSON, *bearer(READ), *bearer(READ)], ROWS).status == 400
        found = ask(app, "POST", path, [JSON, *bearer(READ)], ROWS)
        assert found.status == 200
        assert {name.decode(): value for name, value in found.headers}.items() >= {
            name.decode(): value for name, value in SAFE_HEADERS
        }.items()


@pytest.mark.parametrize("path", ["/models/m/learn\n", "/learn\n", "/models/m/learn/", "/models/m//learn", "//learn"])
def test_no_spelling_of_an_address_learns_without_the_scope(app, path):
    body = b'{"rows": [{"x": 1.5}], "labels": ["a"]}'
    found = ask(app, "POST", path, [*bearer(READ), JSON], body)
    assert found.status in (307, 400, 403, 404), found


@pytest.mark.parametrize("path", ["/nothing", "/models/none", "/models/none/predict", "/models/m/none", "/docs"])
def test_addresses_that_do_not_exist_need_a_token_too(app, path):
    assert ask(app, "GET", path).status == 401
    assert ask(app, "GET", path, bearer(READ)).status in (404, 405)


def test_two_authorizations_are_refused(app):
    found = ask(app, "GET", "/models", [*bearer(READ), *bearer(LEARN)])
    assert found.status == 400
    assert "authorization is there twice" in found.problem["detail"]


def test_no_answer_and_no_log_holds_a_token_or_a_value(app, caplog):
    with caplog.at_level(logging.INFO):
        for token in (READ, LEARN, "unknown-" + "u" * 12):
            for method, path in [("GET", "/models"), ("POST", "/predict"), ("POST", "/learn"), ("GET", "/none")]:
                headers = [*bearer(token), JSON]
                found = ask(app, method, path, headers, b'{"rows": [{"x": "4711"}]}', query="label=secret")
                assert token.encode() not in found.body
    lines = [each.getMessage() for each in caplog.records if each.name == "suffice.server.access"]
    assert '127.0.0.1 "GET /models" 400' in lines  # it has no parameters
    assert not [each for each in (READ, LEARN, "unknown-", "4711", "secret") if each in caplog.text]


def test_a_line_of_the_log_cannot_be_forged(app, caplog):
    with caplog.at_level(logging.INFO, "suffice.server.access"):
        ask(app, "GET", '/x\n127.0.0.1 "GET /ok" 200é' + "y" * 1000, bearer(READ))
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert len(record.getMessage()) < 300


# ---------------------------------------------------------------------- hosts and origins


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8000",
        "LOCALHOST:80",
        "127.0.0.1:8000",
        "[::1]:8000",
        "models.example",
        "Models.Example:443",
        "10.1.2.3:8000",
        "[fd00::5]:8000",
    ],
)
def test_names_of_the_server_are_answered(app, host):
    assert ask(app, "GET", "/models", bearer(READ), host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "models.example.evil.example",
        "notmodels.example",
        "localhost@evil.example",
        "evil.example#localhost",
        "localhost evil.example",
        "localhost:8000:8000",
        "localhost:",
        "localhost:http",
        "localhost:123456",
        "127.0.0.2",
        "127.1",
        "2130706433",
        "0.0.0.0:8000",
        "::1",
        "[::1",
        "[::ffff:127.0.0.1]",
        "testserver",
        "",
        "*",
        "löcalhost",
        "localhost,evil.example",
    ],
)
@pytest.mark.parametrize("route", ["GET /models", "GET /", "GET /health", "POST /predict"])
def test_other_hosts_are_misdirected(app, host, route):
    """A page of a name that an attacker binds to 127.0.0.1 reads nothing."""
    method, path = route.split()
    found = ask(app, method, path, [JSON, *bearer(LEARN)], ROWS, host=host)
    assert found.status == 421
    assert "--host-name" in found.problem["detail"]


def test_a_host_is_there_once(app):
    assert ask(app, "GET", "/health", host=None).status == 400
    found = ask(app, "GET", "/health", [("Host", "localhost")])
    assert found.status == 400
    assert "host is there twice" in found.problem["detail"]


OTHER_SITES = {
    "origin": [("Origin", "https://evil.example")],
    "no origin": [("Origin", "null")],
    "another port": [("Origin", "http://localhost:3000")],
    "another name": [("Origin", "http://127.0.0.1:8000")],
    "another scheme": [("Origin", "file://localhost:8000")],
    "suffix": [("Origin", "http://localhost:8000.evil.example")],
    "several": [("Origin", "http://localhost:8000 https://evil.example")],
    "form": [("Origin", "https://evil.example"), ("Content-Type", "text/plain"), ("Sec-Fetch-Mode", "navigate")],
    "cross-site": [("Sec-Fetch-Site", "cross-site")],
    "same site": [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "cors")],
    "unknown": [("Sec-Fetch-Site", "anything")],
    "image": [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")],
    "script": [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")],
    "frame": [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
}
FROM_LINK = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]


@pytest.mark.parametrize("site", OTHER_SITES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE"])
def test_pages_of_other_sites_are_refused(local, site, method):
    for path in ("/predict", "/learn", "/model", "/report", "/"):
        found = ask(local, method, path, OTHER_SITES[site], ROWS, host="localhost:8000")
        assert found.status == 403
        assert ask(local, method, path, [JSON, *OTHER_SITES[site]], ROWS, host="localhost:8000").status == 403
        if method != "HEAD":
            assert "other sites" in found.problem["detail"]
        assert not [name for name, _ in found.headers if name.startswith(b"access-control")]


def test_the_page_itself_and_programs_are_answered(local):
    same = [("Origin", "http://localhost:8000"), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors"), JSON]
    assert ask(local, "POST", "/predict", same, ROWS, host="localhost:8000").status == 200
    behind_tls = [("Origin", "https://localhost"), ("Sec-Fetch-Site", "same-origin"), JSON]
    assert ask(local, "POST", "/predict", behind_tls, ROWS).status == 200
    assert ask(local, "POST", "/predict", [JSON], ROWS).status == 200
    typed = [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    assert ask(local, "GET", "/", typed).status == 200


def test_a_link_to_the_page_works_and_a_form_does_not(local):
    assert ask(local, "GET", "/", FROM_LINK).status == 200
    assert ask(local, "GET", "/report", FROM_LINK).status == 200
    for path in ("/learn", "/predict", "/"):
        assert ask(local, "POST", path, [*FROM_LINK, ("Content-Type", "text/plain")], ROWS).status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost"])
def test_no_preflight_is_answered(local, origin):
    headers = [("Origin", origin), ("Access-Control-Request-Method", "POST")]
    found = ask(local, "OPTIONS", "/predict", headers)
    assert found.status in (403, 405)
    assert found.problem
    assert not [name for name, _ in found.headers if name.startswith(b"access-control")]


# ---------------------------------------------------------------------- headers


@pytest.mark.parametrize("path", ["/", "/models", "/health", "/metrics", "/model", "/none", "/models/none"])
def test_answers_carry_safe_headers(local, path):
    found = ask(local, "GET", path)
    policy = found.header("content-security-policy")
    assert policy == SAFE_HEADERS[0][1].decode()
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy
    assert found.header("x-content-type-options") == "nosniff"
    assert found.header("referrer-policy") == "no-referrer"
    assert found.header("cross-origin-opener-policy") == "same-origin"
    assert found.header("cross-origin-resource-policy") == "same-origin"
    if path != "/":
        assert found.header("cache-control") == "no-store"


def test_refused_requests_carry_safe_headers(app):
    for found in (ask(app, "GET", "/models"), ask(app, "GET", "/models", host="evil.example")):
        assert {(name.decode(), value) for name, value in found.headers} >= {
            (name.decode(), value) for name, value in SAFE_HEADERS
        }


def test_the_report_runs_its_own_script_in_a_sandbox(local):
    found = ask(local, "GET", "/report")
    policy = found.header("content-security-policy")
    assert "sandbox allow-scripts;" in policy
    assert "allow-same-origin" not in policy
    assert "script-src 'sha256-" in policy
    assert "style-src 'sha256-" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert found.header("cache-control") == "no-store"


def test_a_policy_in_the_text_of_a_page_is_not_that_of_the_page():
    forged = '<meta http-equiv="Content-Security-Policy" content="script-src *">'
    assert document_policy("<html>" + " " * 5000 + forged) == "default-src 'none'; sandbox; frame-ancestors 'none'"


def test_a_head_request_has_no_body(app):
    found = ask(app, "HEAD", "/models")
    assert (found.status, found.body) == (401, b"")


# ---------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd",
        "/assets/../../secret",
        "/assets/..",
        "/assets/./page.js",
        "//models",
        "/assets//page.js",
        "/assets/\0page.js",
        "/models/m\x00",
        "/models/m\r\nX: y",
        "/assets/..\\secret",
        "/models/\ufffd",
        "/models/\x7f",
    ],
)
def test_paths_that_could_leave_their_folder_are_refused(local, path):
    found = ask(local, "GET", path)
    assert found.status == 400
    assert "plain path" in found.problem["detail"]


def test_names_with_dots_are_paths(local):
    assert ask(local, "GET", "/models/a..b").status == 404
    assert ask(local, "GET", "/assets/.hidden").status == 404


# ---------------------------------------------------------------------- requests at once, and time


def guarded(run, **limits):
    return Guard(run, Settings(limits=Limits(**limits)), Tokens(), lambda path: "open" if path == "/health" else "read")


async def answer(send, body=b"ok"):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def test_more_requests_than_the_limit_are_asked_to_come_back():
    async def drive():
        released = asyncio.Event()

        async def run(scope, receive, send):
            if scope["path"] != "/health":
                await released.wait()
            await answer(send)

        app = guarded(run, requests=2)
        waiting = [asyncio.ensure_future(asked(app, "GET", "/x")) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await asked(app, "GET", "/x")
        healthy = await asked(app, "GET", "/health")
        released.set()
        done = [(await each).status for each in waiting]
        return refused, healthy, done, (await asked(app, "GET", "/x")).status, app.running

    refused, healthy, done, after, running = asyncio.run(drive())
    assert refused.status == 503
    assert refused.header("retry-after") == "1"
    assert "answers 2 requests already" in refused.problem["detail"]
    assert (healthy.status, done, after, running) == (200, [200, 200], 200, 0)


def waiting_for(pieces):
    """Receives some pieces of a body; then its client waits."""
    messages = [{"type": "http.request", "body": each, "more_body": True} for each in pieces]

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    return receive


async def reading(scope, receive, send):
    """Reads a body and answers; errors are answers, as in the application."""
    try:
        while (await receive()).get("more_body"):
            pass
    except Problem as problem:
        await send({"type": "http.response.start", "status": problem.status, "headers": []})
        await send({"type": "http.response.body", "body": problem.body()})
        return
    await answer(send)


def requested(guard, receive, *headers):
    """The status of a request with such a body."""
    statuses = []

    async def send(message):
        statuses.append(message.get("status"))

    async def main():
        scope = {"type": "http", "method": "POST", "path": "/x", "raw_path": b"/x", "query_string": b""}
        await guard(scope | {"headers": [(b"host", b"localhost"), *headers]}, receive, send)
        return statuses[0]

    return asyncio.ensure_future(main())


OF_JSON, OF_CSV = (b"content-type", b"application/json"), (b"content-type", b"text/csv")
ZIPPED = (b"content-encoding", b"gzip")
SMALL_BODIES = {"json": ([b"{"], [OF_JSON]), "announced": ([b"{"], [OF_JSON, (b"content-length", b"2000000")])}
LARGE_BODIES = {
    "json": ([bytes(LARGE // 2)] * 3, [OF_JSON]),
    "gzip": ([b"x"], [OF_JSON, ZIPPED]),
    "csv": ([b"x"], [OF_CSV]),
}


@pytest.mark.parametrize("kind", LARGE_BODIES)
def test_more_large_bodies_than_memory_holds_are_asked_to_come_back(kind, monkeypatch):
    monkeypatch.setattr(security, "GRACE_SECONDS", 1_000.0)
    pieces, headers = LARGE_BODIES[kind]

    async def drive():
        guard = guarded(reading, large=2)
        waiting = [requested(guard, waiting_for(pieces), *headers) for _ in range(2)]
        await asyncio.sleep(0.02)
        assert guard.large == 2
        refused = await requested(guard, waiting_for(pieces), *headers)
        announced = await requested(guard, waiting_for([]), OF_JSON, (b"content-length", str(LARGE + 1).encode()))
        done = {"type": "http.request", "body": b"x", "more_body": False}

        async def receive():
            return done

        small = await requested(guard, receive, OF_JSON)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return refused, announced, small, guard.large, await requested(guard, receive, *headers)

    assert asyncio.run(drive()) == (503, 503, 200, 0, 200)


@pytest.mark.parametrize("kind", SMALL_BODIES)
def test_bodies_that_have_not_arrived_take_no_place(kind):
    pieces, headers = SMALL_BODIES[kind]

    async def drive():
        guard = guarded(reading, large=2)
        waiting = [requested(guard, waiting_for(pieces), *headers) for _ in range(5)]
        await asyncio.sleep(0.02)
        taken = guard.large
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return taken

    assert asyncio.run(drive()) == 0


def test_slow_bodies_lose_their_places_when_most_are_taken(monkeypatch):
    monkeypatch.setattr(security, "GRACE_SECONDS", 0.04)

    async def drive():
        guard = guarded(reading, large=3)
        alone = requested(guard, waiting_for([b"x"]), OF_CSV)
        await asyncio.sleep(0.1)
        assert not alone.done()
        both = [alone, requested(guard, waiting_for([b"x"]), OF_CSV)]
        done, _ = await asyncio.wait(both, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        statuses = {each.result() for each in done}
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        return statuses, guard.large

    assert asyncio.run(drive()) == ({408}, 0)


def test_a_request_that_fails_makes_room():
    async def run(scope, receive, send):
        raise ValueError("a mistake")

    app = guarded(run, requests=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="a mistake"):
            ask(app, "GET", "/x")
    assert app.running == 0


def test_an_answer_that_takes_too_long_is_refused():
    async def run(scope, receive, send):
        await asyncio.Event().wait()

    found = ask(guarded(run, request_seconds=0.01), "GET", "/x")
    assert found.status == 503
    assert found.header("retry-after")
    assert "longer than 0.01 seconds" in found.problem["detail"]


def test_a_timeout_within_the_application_is_its_own():
    async def run(scope, receive, send):
        raise TimeoutError("of a disk")

    with pytest.raises(TimeoutError, match="of a disk"):
        ask(guarded(run), "GET", "/x")


def test_an_answer_that_never_ends_is_cut(caplog):
    async def run(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    sent = []

    async def drive():
        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/x", "headers": [(b"host", b"localhost")]}
        await guarded(run, request_seconds=0.01)(scope, None, send)

    asyncio.run(drive())
    assert [each["type"] for each in sent] == ["http.response.start"]  # without an end, so that uvicorn cuts it
    assert "longer than 0.01 seconds" in caplog.text


def test_websockets_are_not_answered():
    async def run(scope, receive, send):
        raise AssertionError("reached")

    asyncio.run(guarded(run)({"type": "websocket", "headers": []}, None, None))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_addresses(address):
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "::", "192.168.1.1", "fe80::1", "", "example.org", "localhost.evil.example"]
)
def test_other_addresses(address):
    assert not is_loopback(address)
