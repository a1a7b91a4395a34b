"""An attack on a running installation: stalls, floods, forged hosts, hostile files.

Run `python -m tests.attacks.siege [--proxy nginx|caddy] [--program PATH]`: two web
processes of four threads, a worker and a database, without a proxy or behind the one of
deploy/proxy (its TLS left out). While each attack goes on, another tenant reads a user
over new connections; its slowest call is told, and must be under 2 s. Prints a line for
each attack with what was seen; the exit code is 1 where anything did not hold.

Clients are told apart by their loopback address: attackers come from 127.0.0.66 on, the
other tenant from 127.0.0.2.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.stage import database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
MUST_S = 2.0
VICTIM, ATTACKER = "127.0.0.2", "127.0.0.66"
HOST = "127.0.0.1"
STARTED_S = 60
# Longer than the server's own bounds for headers and bodies.
PATIENCE_S = 40


class Installation(NamedTuple):
    """What runs, and what an attacker and another tenant have of it."""

    port: int  # where clients connect, the proxy's if there is one
    is_proxied: bool
    var: Path
    public_url: str
    victim_path: str
    victim_key: str
    attacker_key: str
    attacker_user: str
    member: str


class Seen:
    """The other tenant's calls while something goes on: statuses, and the slowest."""

    def __init__(self, here: Installation) -> None:
        self.here, self.statuses, self.slowest_s = here, dict[str, int](), 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Seen:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            for path in (self.here.victim_path, "/healthz", "/readyz"):
                began = time.perf_counter()
                status = self._call(path)
                self.slowest_s = max(self.slowest_s, time.perf_counter() - began)
                self.statuses[status] = self.statuses.get(status, 0) + 1

    def _call(self, path: str) -> str:
        try:
            return str(
                call(self.here, "GET", path, key=self.here.victim_key, source=VICTIM)[0]
            )
        except OSError as error:
            return type(error).__name__

    @property
    def is_well(self) -> bool:
        return set(self.statuses) == {"200"} and self.slowest_s < MUST_S

    def __str__(self) -> str:
        return f"other tenant {self.statuses}, slowest {self.slowest_s:.2f} s"


def call(
    here: Installation,
    method: str,
    path: str,
    *,
    key: str = "",
    source: str = ATTACKER,
    body: Any = None,
    **headers: str,
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """One call over a connection of its own."""
    client = http.client.HTTPConnection(
        HOST, here.port, timeout=PATIENCE_S, source_address=(source, 0)
    )
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    if key:
        named["x-service-api-key"] = key
    try:
        client.request(method, path, body, named)
        reply = client.getresponse()
        return reply.status, reply.read(), reply.headers
    finally:
        client.close()


def connect(here: Installation, source: str = ATTACKER) -> socket.socket:
    return socket.create_connection((HOST, here.port), PATIENCE_S, (source, 0))


def head(here: Installation, method: str, path: str, *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: assay.example", *headers]
    key = f"x-service-api-key: {here.attacker_key}"
    return "\r\n".join([*lines, key, "", ""]).encode()


def read_all(connection: socket.socket) -> bytes:
    found = b""
    with suppress(OSError):
        while part := connection.recv(65536):
            found += part
    return found


def exit_reason(connection: socket.socket) -> str:
    """The first status of a connection; `closed` without one, `open` out of time."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except TimeoutError:
        return "open"
    except OSError:
        pass
    status = re.match(rb"HTTP/1.1 (\d+)", found)
    return status[1].decode() if status else "closed"


# The attacks: each returns whether it held, and what was seen.

Told = tuple[bool, str]


def bodies(here: Installation) -> Told:
    """Chunked, expected, packed, cut-off bodies."""
    path = f"/v2/user/{here.attacker_user}"
    new = json.dumps({"client_user_id": "in chunks"}).encode()
    chunked = call(
        here, "PATCH", path, key=here.attacker_key, body=iter([new[:9], new[9:]]),
        content_type="application/json",
    )[0]  # which http.client sends in chunks  # fmt: skip
    stored = json.loads(call(here, "GET", path, key=here.attacker_key)[1])
    packed = call(
        here, "PATCH", path, key=here.attacker_key, body=b"\x1f\x8b",
        content_type="application/json", content_encoding="gzip",
    )[0]  # fmt: skip
    with connect(here) as cut:
        cut.sendall(
            head(here, "PATCH", path, "Content-Type: application/json",
                 "Transfer-Encoding: chunked")
            + b'1d\r\n{"client_user_id": "cut off"}\r\n'
        )  # fmt: skip
    after = json.loads(call(here, "GET", path, key=here.attacker_key)[1])
    held = (chunked, packed) == (204, 415) and stored["client_user_id"] == after[
        "client_user_id"
    ] == "in chunks"
    return held, f"chunked {chunked} and stored, packed {packed}, cut off: not done"


def framing(here: Installation) -> Told:
    """One request that two servers could take for two."""
    heads = {
        "both lengths": ["Content-Length: 5", "Transfer-Encoding: chunked"],
        "two lengths": ["Content-Length: 5", "Content-Length: 6"],
        "coding in coding": ["Transfer-Encoding: gzip, chunked"],
        "blank in name": ["Transfer-Encoding : chunked"],
    }
    answers = {}
    for name, headers in heads.items():
        with connect(here) as client:
            smuggled = b"0\r\n\r\nGET /v2/providers HTTP/1.1\r\nHost: x\r\n\r\n"
            client.sendall(head(here, "POST", "/v2/user", *headers) + smuggled)
            client.shutdown(socket.SHUT_WR)
            found = read_all(client)
        answers[name] = re.findall(rb"HTTP/1.1 (\d+)", found)
    refused = {b"400", b"501"}
    # A proxy may take both lengths for chunks, and what follows for a second request
    # (RFC 9112, 6.3): it sends both on as it has read them.
    held = all(
        set(found) <= refused and len(found) <= 1
        for name, found in answers.items()
        if not (here.is_proxied and name == "both lengths")
    )
    return held, ", ".join(
        f"{name} {b' '.join(found).decode() or 'closed'}"
        for name, found in answers.items()
    )


def stalls(here: Installation) -> Told:
    """Bodies, headers and connections that stall, from one address and from twenty."""
    opened: list[socket.socket] = []

    def stall(source: str, sent: bytes) -> None:
        with suppress(OSError):
            each = connect(here, source)
            opened.append(each)
            each.sendall(sent)

    body = head(
        here, "POST", "/v2/user", "Content-Type: application/json",
        "Content-Length: 999999",
    )  # fmt: skip
    began = time.perf_counter()
    with Seen(here) as seen:
        for number in range(200):
            stall(ATTACKER, body + b'{"a":')
            if number % 2:
                stall(ATTACKER, body[:40])
            stall(f"127.0.0.{70 + number % 20}", body + b'{"a":')
        answers: dict[str, int] = {}
        for each in opened:
            each.settimeout(max(0.01, began + PATIENCE_S - time.perf_counter()))
            named = exit_reason(each)
            answers[named] = answers.get(named, 0) + 1
            each.close()
        took = time.perf_counter() - began
    # A proxy may hold them for as long as it likes.
    ends = {"408", "closed", "503", "400"} | ({"open"} if here.is_proxied else set())
    held = seen.is_well and set(answers) <= ends
    return held, f"{len(opened)} stalls gone after {took:.0f} s {answers}; {seen}"


def drips(here: Installation) -> Told:
    """Sixteen bodies of a byte now and then."""
    body = head(
        here, "POST", "/v2/user", "Content-Type: application/json",
        "Content-Length: 5000",
    )  # fmt: skip
    began = time.perf_counter()
    opened = [connect(here) for _ in range(16)]
    with Seen(here) as seen:
        for each in opened:
            each.sendall(body)
        alive = set(opened)
        while alive and time.perf_counter() - began < PATIENCE_S:
            for each in tuple(alive):
                try:
                    each.sendall(b" ")
                    each.setblocking(False)
                    if each.recv(4096):
                        alive.discard(each)
                except BlockingIOError:
                    each.setblocking(True)
                except OSError:
                    alive.discard(each)
            threading.Event().wait(0.5)
        took = time.perf_counter() - began
    for each in opened:
        each.close()
    # A proxy that keeps bodies itself may let them come for as long as they like.
    return seen.is_well, f"{len(alive)} of 16 left after {took:.0f} s; {seen}"


def readers(here: Installation) -> Told:
    """Forty clients that ask for a large answer and read none of it."""
    opened = []
    with Seen(here) as seen:
        for _ in range(40):
            each = connect(here)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(OSError):
                each.sendall(head(here, "GET", "/api/schema/") * 3)
            opened.append(each)
        threading.Event().wait(5)
    for each in opened:
        each.close()
    return seen.is_well, str(seen)


def links(here: Installation) -> Told:
    """A reset of a password asked for under another host."""
    page = call(here, "GET", "/accounts/password/reset/", host="assay.example")
    cookie = page[2]["Set-Cookie"].partition(";")[0]
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page[1])
    assert token
    form = f"email={here.member}&csrfmiddlewaretoken={token[1].decode()}"
    fields = {}
    for host in ("evil.example", "assay.example:666", "assay.example"):
        fields[host] = call(
            here, "POST", "/accounts/password/reset/", body=form, host=host,
            cookie=cookie, content_type="application/x-www-form-urlencoded",
            x_forwarded_host="evil.example",
        )[0]  # fmt: skip
    mails = [path.read_text() for path in (here.var / "mail").glob("*")]
    found = set(re.findall(r"https?://[^/\s]+", "".join(mails)))
    modes = {
        stat.S_IMODE(path.stat().st_mode) for path in (here.var / "mail").glob("*")
    }
    held = found == {here.public_url} and modes == {0o600} and bool(mails)
    return held, (
        f"asked as {fields}; {len(mails)} mails of mode "
        f"{'/'.join(f'{mode:o}' for mode in modes)} link to {', '.join(found)}"
    )


def hostile_reports(here: Installation) -> Told:
    """Twelve reports that draw themselves without an end, at once."""
    from tests.factories.reports import make_endless_pdf

    answers: list[tuple[int, str]] = []

    def send() -> None:
        boundary = "xx"
        content = make_endless_pdf()
        form = b"".join(
            [
                b'--xx\r\nContent-Disposition: form-data; name="user_id"\r\n\r\n',
                here.attacker_user.encode(),
                b'\r\n--xx\r\nContent-Disposition: form-data; name="file"; ',
                b'filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n',
                content,
                b"\r\n--xx--\r\n",
            ]
        )
        status, body, _ = call(
            here, "POST", "/lab_report/v1/parser/job", key=here.attacker_key, body=form,
            content_type=f"multipart/form-data; boundary={boundary}",
        )  # fmt: skip
        answers.append((status, json.loads(body).get("id", "")))

    began = time.perf_counter()
    with Seen(here) as seen:
        sending = [threading.Thread(target=send) for _ in range(12)]
        for each in sending:
            each.start()
        for each in sending:
            each.join()
        answered = time.perf_counter() - began
        end = wait_for_one(here, [job for _, job in answers if job])
        decided = time.perf_counter() - began
    statuses = {status for status, _ in answers}
    held = seen.is_well and statuses <= {200, 400} and end == "failed invalid_input"
    return held, (
        f"answered {statuses} after {answered:.1f} s, the first decided after "
        f"{decided:.0f} s: {end}; {seen}"
    )


def wait_for_one(here: Installation, jobs: list[str]) -> str:
    """How the first of these reports ended; a tenant has one decided at a time."""
    deadline = time.monotonic() + PATIENCE_S * 2
    while jobs and time.monotonic() < deadline:
        for job in jobs:
            path = f"/lab_report/v1/parser/job/{job}"
            read = json.loads(call(here, "GET", path, key=here.attacker_key)[1])
            if read["status"] not in {"upload_pending", "started"}:
                return f"{read['status']} {read['failure_reason']}"
        threading.Event().wait(0.5)
    return "none"


def lost_connections(here: Installation) -> Told:
    """Every database connection of the installation is ended, again and again."""
    from django.db import connection

    with Seen(here) as seen, connection.cursor() as cursor:
        for _ in range(10):
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND usename = current_user"
            )
            threading.Event().wait(0.5)
    held = set(seen.statuses) <= {"200", "503"} and seen.slowest_s < MUST_S
    return held, str(seen)


def audit(here: Installation) -> Told:
    """The role empties the audit, by what it is refused and by what it can."""
    from django.db import DatabaseError, connection, transaction

    refused, before = "", manage("verify_audit", var=here.var)
    with connection.cursor() as cursor:
        cursor.execute("SET assay.tenant = '*'")
        try:
            with transaction.atomic():
                cursor.execute("TRUNCATE accounts_auditentry CASCADE")
        except DatabaseError as error:
            refused = type(error.__cause__).__name__
        cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER USER")
        cursor.execute("TRUNCATE accounts_auditentry CASCADE")
        cursor.execute("ALTER TABLE accounts_auditentry ENABLE TRIGGER USER")
    verified = manage("verify_audit", var=here.var)
    return bool(refused) and (before, verified) == (0, 1), (
        f"TRUNCATE: {refused or 'done'}; verify_audit: {before}, and {verified} once "
        "its triggers were taken off for it"
    )


ATTACKS: tuple[Callable[[Installation], Told], ...] = (
    bodies,
    framing,
    links,
    stalls,
    drips,
    readers,
    hostile_reports,
    lost_connections,
    audit,
)


def manage(*words: str, var: Path) -> int:
    """A command of the installation; its exit code."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, **surroundings(var)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


def surroundings(var: Path) -> dict[str, str]:
    from tests.portal.lib.worker_process import database_url

    return {
        "DATABASE_URL": database_url(),
        "SECRET_KEY": "only for an attack" * 3,
        "VAR_DIR": str(var),
        "UPLOADS_DIR": str(var / "uploads"),
        "STATICFILES_COLLECTED": "false",
        "LOG_LEVEL": "CRITICAL",
    }


@contextmanager
def process(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    started = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stderr=subprocess.DEVNULL,  # an attack fills it
        start_new_session=True,
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def nginx(folder: Path, port: int, behind: int, program: str) -> list[str]:
    """The shipped configuration at a port of ours, without TLS."""
    text = (ROOT / "deploy/proxy/nginx.conf").read_text()
    text = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"    listen \[::\]:443.*\n|    ssl_.*\n", "", text)
    text = text.replace("listen 443 ssl", f"listen {HOST}:{port}")
    text = text.replace("127.0.0.1:8000", f"{HOST}:{behind}")
    # `$scheme` is http here, where TLS is left out.
    whole = f"""
        daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log crit;
        worker_processes 1; user {"root" if os.getuid() == 0 else "nobody"};
        events {{ worker_connections 4096; }}
        http {{
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
            scgi_temp_path {folder}/s;
            {text}
        }}
    """
    (folder / "nginx.conf").write_text(whole)
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, behind: int, program: str) -> list[str]:
    """The shipped configuration at a port of ours, without TLS."""
    text = (ROOT / "deploy/proxy/Caddyfile").read_text()
    text = text.replace("assay.example {", f"http://:{port} {{\n\tbind {HOST}")
    text = text.replace("127.0.0.1:8000", f"{HOST}:{behind}")
    text = text.replace("\tservers {", "\tadmin off\n\tservers {", 1)
    (folder / "Caddyfile").write_text(text)
    return [program, "run", "--config", str(folder / "Caddyfile")]


PROXIES = {"nginx": nginx, "caddy": caddy}


@contextmanager
def installation(proxy: str, program: str) -> Iterator[Installation]:
    """All of it, in a folder and a database that go at the end."""
    with ExitStack() as stack:
        stack.enter_context(database())
        from tests.factories.accounts import (
            make_api_key,
            make_member,
            make_team,
            make_tenant,
        )
        from tests.factories.users import make_user
        from tests.portal.outages.nodes import free_port

        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        var = folder / "var"
        web = free_port()
        port = free_port() if proxy else web
        public_url = f"http://assay.example:{port}"
        attacker = make_tenant(team=make_team("Attackers"))
        other = make_tenant(team=make_team("Others"))
        member = make_member(team=other.team)
        user = make_user(tenant=other)
        here = Installation(
            port=port,
            is_proxied=bool(proxy),
            var=var,
            public_url=public_url,
            victim_path=f"/v2/user/{user.uuid}",
            victim_key=make_api_key(tenant=other),
            attacker_key=make_api_key(tenant=attacker),
            attacker_user=str(make_user(tenant=attacker).uuid),
            member=member.email,
        )
        environment = {
            **surroundings(var),
            "PUBLIC_URL": public_url,
            "ALLOWED_HOSTS": "*",
            "WEB_HOST": HOST,
            "WEB_PORT": str(web),
            "WEB_WORKERS": "2",
            "TRUSTED_PROXIES": HOST if proxy else "",
        }
        start = str(ROOT / "deploy/start")
        web_command = [start, "web", "--log-level", "error"]
        stack.enter_context(process(web_command, environment))
        for part in ("worker", "deliverer"):
            stack.enter_context(process([start, part], environment))
        if proxy:
            command = PROXIES[proxy](folder, port, web, program or proxy)
            stack.enter_context(process(command, {"HOME": str(folder)}))
        wait_until_ready(here)
        yield here


def wait_until_ready(here: Installation) -> None:
    deadline = time.monotonic() + STARTED_S
    while time.monotonic() < deadline:
        with suppress(OSError, http.client.HTTPException):
            if call(here, "GET", "/readyz")[0] == 200:
                return
        threading.Event().wait(0.2)
    raise SystemExit("the installation did not become ready")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proxy", choices=sorted(PROXIES), default="")
    parser.add_argument("--program", default="", help="the proxy's, if not on the path")
    parser.add_argument("--only", nargs="*", default=[], help="attacks, by name")
    options = parser.parse_args()
    if options.proxy and not (options.program or shutil.which(options.proxy)):
        raise SystemExit(f"{options.proxy} is not installed")
    all_held = True
    with installation(options.proxy, options.program) as here:
        print(f"two web processes, {options.proxy or 'no proxy'}")
        for attack in ATTACKS:
            if options.only and attack.__name__ not in options.only:
                continue
            held, told = attack(here)
            all_held &= held
            print(f"{'held ' if held else 'FAULT'}  {attack.__name__:17} {told}")
    sys.exit(0 if all_held else 1)


if __name__ == "__main__":
    main()
