"""The real `manage.py demo`, on a private server and folder, started and killed."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from portal.management.commands import demo as command
from tests.clients import JSON
from tests.factories.labs import ADDRESS, PATIENT
from tests.factories.reports import ROWS, make_pdf
from tests.portal.lib.embedded.embedded_server import (
    BASE_DIR,
    WAIT_S,
    ServerUser,
    kill_all_naming,
    processes_naming,
    wait_until_nothing_names,
)
from tests.portal.outages.nodes import free_port

AIR_GAP = Path(__file__).parent.parent / "air_gap"
START_TIMEOUT_S = 90
FORM = "application/x-www-form-urlencoded"
ENDING = "Press Ctrl-C to stop."


class Demo:
    """One home for demos: its folders and its port, and the demos started in it."""

    def __init__(self, root, var):
        self.root = root
        self.var = var
        self.port = free_port()
        self.process: Any = None

    def start(self, *arguments, prefix=(sys.executable,), bare=True, **environment):
        """Start a demo; its lines up to the last of its welcome.

        Bare unless told otherwise: most tests ask for its processes, not for its data.
        """
        if bare:
            arguments = (*arguments, "--bare")
        self.process = subprocess.Popen(
            [*prefix, "manage.py", "demo", "--port", str(self.port), *arguments],
            cwd=BASE_DIR,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if ENDING in line:
                return "".join(lines)
        self.process.communicate()
        raise AssertionError("".join(lines))

    def run(self, *arguments, **environment):
        """Run a demo that must refuse: its exit code and what it says on stderr."""
        done = subprocess.run(
            [sys.executable, "manage.py", "demo", *arguments],
            cwd=BASE_DIR,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_TIMEOUT_S,
        )
        return done.returncode, done.stderr

    def environment(self, **more):
        kept = {
            name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ
        }
        # The mark by which every process of this home is found.
        chosen = {"VAR_DIR": str(self.var), "EMBEDDED_POSTGRES_DIR": str(self.root)}
        return {**kept, **chosen, **more}

    def stop(self, with_signal):
        """Send a signal to the demo alone; its exit code."""
        self.process.send_signal(with_signal)
        self.process.communicate(timeout=WAIT_S)
        return self.process.returncode

    def stop_beside_a_browser(self, with_signal):
        """The exit code and what is left of it, though a browser stays connected."""
        with self.browser() as kept_alive:
            kept_alive.request("GET", "/accounts/login/")
            kept_alive.getresponse().read()
            code = self.stop(with_signal)
            return code, self.processes(), processes_naming(self.root)

    def users(self, notes):
        """Status and body of each team's users, by the keys of these notes."""
        return {
            slug: self.get("/v2/user/", x_service_api_key=key)
            for slug, key in notes["api_keys"].items()
        }

    def get(self, path, **headers):
        """Status and body of a page."""
        return self.call("GET", path, **headers)

    def call(self, method, path, body=None, **headers):
        """Status and body of an answer."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        with self.browser() as client:
            client.request(method, path, body, named)
            reply = client.getresponse()
            return reply.status, reply.read()

    @contextmanager
    def browser(self):
        """A connection that is kept alive, as browsers do."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            yield client
        finally:
            client.close()

    def notes(self):
        return json.loads((self.var / "demo.json").read_text())

    def received(self):
        """What the receiver of webhooks wrote, once it got something."""
        log = self.var / "webhooks.log"
        deadline = time.monotonic() + WAIT_S
        while not (log.exists() and log.stat().st_size):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return log.read_text()

    def processes(self):
        """Pids of everything this home runs, wherever it is in the tree."""
        return [pid for pid in all_pids() if str(self.root) in surroundings(pid)]

    def nothing_runs(self):
        deadline = time.monotonic() + WAIT_S
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return wait_until_nothing_names(self.root)


def all_pids():
    own = os.getpid()
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [pid for pid in pids if pid != own]


def surroundings(pid):
    """A process's command line and environment."""
    try:
        folder = Path(f"/proc/{pid}")
        return (folder / "cmdline").read_text() + (folder / "environ").read_text()
    except OSError:
        return ""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Shared by the tests below: a database with data is made once."""
    name = f"assay-test-{os.getpid()}-{secrets.token_hex(4)}"
    root = Path("/var/tmp") / name  # noqa: S108 - nobody can guess the name
    yield Demo(root, tmp_path_factory.mktemp("var"))
    kill_all_naming(root)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def demo(home):
    yield home
    if home.process and home.process.poll() is None:
        home.process.kill()
        home.process.communicate()
    assert home.nothing_runs()


# A start is several processes that each load everything: one serves several promises.


def without_network(log):
    """The environment of processes that reach this machine alone.

    What they try is written to `log`.
    """
    environment = {"PYTHONPATH": str(AIR_GAP), "AIR_GAP_LOG": str(log)}
    for way_out in (
        "socket.create_connection(('192.0.2.1', 80))",
        "socket.getaddrinfo('assay.example', 80)",
    ):
        code = f"import socket; {way_out}"
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert "no network but this machine's own" in done.stderr
    assert len(log.read_text().splitlines()) == 2
    log.unlink()
    return environment


class Developer:
    """Somebody with a key of a demo's first team."""

    def __init__(self, demo):
        self.demo = demo
        self.key = demo.notes()["api_keys"]["demo"]

    def ask(self, method, path, body=None, content_type=JSON):
        if content_type == JSON and body is not None:
            body = json.dumps(body)
        status, answer = self.demo.call(
            method, path, body, x_service_api_key=self.key, content_type=content_type
        )
        assert status == 200, answer
        return json.loads(answer)

    def wait_for(self, path, is_there):
        deadline = time.monotonic() + START_TIMEOUT_S
        while not is_there(found := self.ask("GET", path)):
            assert time.monotonic() < deadline, found
            time.sleep(0.1)
        return found


def upload_and_read(developer, user_id):
    """Upload a report; its values, once the worker has read them."""
    file = SimpleUploadedFile("report.pdf", make_pdf(), "application/pdf")
    body = encode_multipart(BOUNDARY, {"user_id": user_id, "file": file})
    path = "/lab_report/v1/parser/job"
    job = developer.ask("POST", path, body, content_type=MULTIPART_CONTENT)
    read = developer.wait_for(f"{path}/{job['id']}", lambda each: each["data"])
    return [row["test_name"] for row in read["data"]["results"]]


def order_and_book(developer, user_id):
    """Order a test and book a visit for it; how the visit stands."""
    (panel, *_) = [
        each["id"]
        for each in developer.ask("GET", "/v3/lab_tests")
        if (each["method"], each["lab"]["slug"]) == ("walk_in_test", "quest")
    ]
    fields = {
        "user_id": user_id,
        "order_set": {"lab_test_ids": [panel]},
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
    }
    order = developer.ask("POST", "/v3/order", fields)["order"]
    ready = "received.walk_in_test.requisition_created"
    developer.ask("POST", f"/v3/order/{order['id']}/test?final_status={ready}", {})
    free = developer.ask(
        "POST", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004"
    )
    key = next(slot["booking_key"] for day in free["slots"] for slot in day["slots"])
    path = f"/v3/order/{order['id']}/psc/appointment/book"
    return developer.ask("POST", path, {"booking_key": key})["status"]


@pytest.mark.timeout(300)  # a start with all its data
def test_demo_serves_and_prints_its_access(demo, tmp_path):
    tried = tmp_path / "air_gap.log"
    # The first without a network: nothing that a newcomer does needs one.
    welcome = demo.start(
        bare=False,
        **without_network(tried),
    )
    first = demo.notes()
    received = demo.received()
    ready = demo.get("/readyz")
    entrance = demo.get("/accounts/login/")[0]
    users = demo.users(first)
    not_held = [
        pid
        for pid in demo.processes()
        if "manage.py" in surroundings(pid) and str(AIR_GAP) not in surroundings(pid)
    ]
    developer = Developer(demo)
    user_id = json.loads(users["demo"][1])["users"][0]["user_id"]
    values = upload_and_read(developer, user_id)
    visit = order_and_book(developer, user_id)
    ended = demo.stop_beside_a_browser(signal.SIGTERM)

    assert ready == (200, b'{"status":"ok"}')
    assert len(values) == len(ROWS)
    assert visit == "confirmed"
    assert not_held == []
    assert not tried.exists(), tried.read_text()
    assert "  verified  " in received
    assert "NOT VERIFIED" not in received
    assert entrance == 200
    assert first["address"] == f"http://127.0.0.1:{demo.port}"
    assert list(first["api_keys"]) == ["demo", "demo-two"]
    for printed in (
        first["address"],
        first["email"],
        first["password"],
        f"{first['address']}/admin/",
        first["operator_email"],
        first["operator_password"],
        *first["api_keys"].values(),
    ):
        assert printed in welcome
    assert "ERROR" not in welcome
    steps = re.findall(r"^ *\d+ s  (.+)$", welcome, re.MULTILINE)
    assert steps[:2] == ["Starting PostgreSQL", "Creating the database tables"]
    assert "Loading Northfield Clinic, users and reports" in steps
    assert stat.S_IMODE((demo.var / "demo.json").stat().st_mode) == 0o600
    for status, body in users.values():
        assert status == 200
        assert 0 < json.loads(body)["total"] <= 25
    assert ended == (0, [], [])


@pytest.mark.long
@pytest.mark.timeout(300)  # two starts with all data
def test_a_demo_run_again_changes_nothing(demo):
    demo.start(bare=False)
    first = demo.notes()
    users = demo.users(first)
    ended = demo.stop_beside_a_browser(signal.SIGTERM)
    ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    ignoring += "; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    demo.start(prefix=(sys.executable, "-c", ignoring), bare=False)
    second = demo.notes()
    users_again = demo.users(second)
    ended_again = demo.stop_beside_a_browser(signal.SIGINT)

    assert second == first
    assert users_again == users
    # The second was started to ignore SIGINT, as a shell starts what it puts behind it.
    assert ended == ended_again == (0, [], [])


@pytest.mark.long
@pytest.mark.timeout(300)  # three starts
def test_a_killed_demo_leaves_nothing_and_lost_notes_or_a_reset_give_new_access(demo):
    # By `uv run`, where there is one: then its kill -9 must end the demo as well.
    uv = shutil.which("uv")
    prefix = (uv, "run", "--no-sync") if uv else (sys.executable,)
    demo.start(prefix=prefix, UV_PROJECT_ENVIRONMENT=sys.prefix)
    first = demo.notes()
    (killed,) = [pid for pid in demo.processes() if is_worker(pid)]

    os.kill(killed, signal.SIGKILL)

    deadline = time.monotonic() + WAIT_S
    while [pid for pid in demo.processes() if is_worker(pid)] in ([], [killed]):
        assert time.monotonic() < deadline
        time.sleep(0.05)

    demo.stop(signal.SIGKILL)

    assert demo.nothing_runs()
    # Nothing is left of the notes but the receiver's port, which is now asked for.
    receiver, demo.port = first["webhooks_port"], first["webhooks_port"]
    lost = {"address": "", "email": "", "password": "", "api_keys": {}}
    left = json.dumps({**lost, "webhooks_port": receiver})
    (demo.var / "demo.json").write_text(left)

    demo.start()

    second = demo.notes()
    assert demo.get("/readyz")[0] == 200
    assert second["webhooks_port"] not in {0, receiver}
    assert second["password"] != first["password"]
    assert demo.users(second)["demo"][0] == 200
    assert demo.users(first)["demo"][0] == 401
    code, said = demo.run("--reset", "--port", str(free_port()))
    assert_refusal(code, said, "in use")
    assert demo.users(second)["demo"][0] == 200
    with demo.browser() as kept_alive:
        kept_alive.request("GET", "/accounts/login/")
        kept_alive.getresponse().read()

        demo.stop(signal.SIGKILL)

        assert demo.nothing_runs()

    demo.start("--reset")

    third = demo.notes()
    assert third["password"] != second["password"]
    assert demo.users(third)["demo"][0] == 200
    assert demo.users(second)["demo"][0] == 401
    demo.stop(signal.SIGTERM)


@pytest.mark.long
def test_a_demo_on_every_address_answers_to_this_machine_s_names_and_links_home(demo):
    demo.start("--host", "0.0.0.0")  # noqa: S104 - what is tried
    home = demo.notes()["address"]
    form = "csrfmiddlewaretoken=" + "c" * 32 + "&email=" + demo.notes()["email"]
    posted = {"cookie": "csrftoken=" + "c" * 32, "content_type": FORM}
    text = "/accounts/password/reset/"
    (own,) = {
        found[1]
        for pid in demo.processes()
        if (found := re.search("ALLOWED_HOSTS=([^\0]*)\0", surroundings(pid)))
    }

    at_home = {
        host: demo.get("/accounts/login/", host=host)[0] for host in own.split(",")
    }
    elsewhere = [
        demo.call("POST", target, form, host=host, **posted)[0]
        for host, target in (
            ("evil.example", text),
            ("192.0.2.200", text),
            ("evil.example", f"http://evil.example{text}"),
        )
    ]
    letters_before = list((demo.var / "mail").glob("*"))
    odd = f"{socket.gethostname()}:1"
    status, _ = demo.call("POST", text, form, host=odd, **posted)
    demo.call("POST", text, form, host=odd, x_forwarded_host="evil.example", **posted)

    letters = list((demo.var / "mail").iterdir())
    links = re.findall(r"https?://\S+", "".join(each.read_text() for each in letters))
    demo.stop(signal.SIGTERM)
    assert home == f"http://127.0.0.1:{demo.port}"
    assert {socket.gethostname().lower(), "127.0.0.1", "[::1]"} <= set(at_home)
    assert set(at_home.values()) == {200}, at_home
    assert elsewhere == [400, 400, 400]
    assert (letters_before, status, len(letters)) == ([], 302, 2)
    assert len(links) == 2
    assert all(link.startswith(f"{home}/accounts/password/reset/") for link in links)
    kept = [demo.var / "webhooks.log", demo.var / "demo.json", *letters]
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}
    assert stat.S_IMODE((demo.var / "mail").stat().st_mode) == 0o700


def is_worker(pid):
    words = (Path(f"/proc/{pid}") / "cmdline").read_text().split("\0")
    return "worker" in words and not any("warden.py" in word for word in words)


@pytest.mark.long
def test_demo_uses_a_database_of_ones_own(demo, tmp_path):
    name = f"assay-test-{os.getpid()}-{secrets.token_hex(4)}"
    elsewhere = Path("/var/tmp") / name  # noqa: S108 - nobody can guess the name
    own = ServerUser(elsewhere)
    own.wait_until_connected()
    unused = tmp_path / "unused"

    demo.start(
        DATABASE_URL=own.url,
        VAR_DIR=str(tmp_path),
        EMBEDDED_POSTGRES_DIR=str(unused),
    )
    ready = demo.get("/readyz")[0]
    code = demo.stop(signal.SIGTERM)

    own.leave()
    shutil.rmtree(elsewhere)
    assert (ready, code) == (200, 0)
    assert not unused.exists()


def assert_refusal(code, said, naming):
    """Exit code 1 and one sentence that names what helps; nothing of Python."""
    assert code == 1
    assert naming in said
    assert len(said.strip().splitlines()) == 1
    assert "Traceback" not in said


@pytest.fixture
def refusal(tmp_path):
    """Call it for a demo's exit code and stderr, in a fork that has loaded all."""
    written = tmp_path / "stderr"

    def run(*arguments):
        connection.connection = None  # the test's own
        with written.open("w") as sys.stderr:
            words = ["manage.py", "demo", *arguments, "--skip-checks"]
            command.Command().run_from_argv(words)

    def refused(*arguments):
        process = multiprocessing.get_context("fork").Process(
            target=run, args=arguments
        )
        process.start()
        process.join(START_TIMEOUT_S)
        process.kill()
        return process.exitcode, written.read_text()

    return refused


def test_a_busy_port_and_an_address_that_is_not_ours_are_refused(refusal):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()

        code, said = refusal("--port", str(busy.getsockname()[1]))

    assert_refusal(code, said, "--port")
    for arguments in (
        ("--port", "70000"),
        ("--host", "192.0.2.1"),
        ("--host", "no.such.host.invalid"),
    ):
        code, said = refusal(*arguments)
        assert_refusal(code, said, arguments[0])


@pytest.mark.long
def test_a_folder_it_cannot_write_is_refused(demo, tmp_path):
    (tmp_path / "file").touch()

    code, said = demo.run(
        "--port", str(free_port()), VAR_DIR=str(tmp_path / "file" / "var")
    )

    assert_refusal(code, said, "VAR_DIR")


@pytest.mark.long
def test_a_bundled_postgres_that_cannot_start_is_refused(demo, tmp_path):
    (tmp_path / "file").touch()

    code, said = demo.run(
        "--port",
        str(free_port()),
        EMBEDDED_POSTGRES_DIR=str(tmp_path / "file" / "data"),
    )

    assert_refusal(code, said, "EMBEDDED_POSTGRES_DIR")


def test_a_postgres_that_does_not_answer_is_refused_without_its_password(
    demo, tmp_path
):
    nowhere = f"postgresql://assay:hidden@/assay?host={tmp_path}"

    code, said = demo.run("--port", str(free_port()), DATABASE_URL=nowhere)

    assert_refusal(code, said, "DATABASE_URL")
    assert "hidden" not in said


@pytest.mark.long
def test_reset_leaves_a_database_of_ones_own_alone(demo, tmp_path):
    own = f"postgresql://assay@/assay?host={tmp_path}"

    code, said = demo.run("--reset", "--port", str(free_port()), DATABASE_URL=own)

    assert_refusal(code, said, "DATABASE_URL")
