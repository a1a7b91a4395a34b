"""Install published clients, call their methods through a recorder, and judge them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx
from django.conf import settings
from django.urls import Resolver404, resolve

from portal.api_docs.not_offered import CODE
from tests.contract.clients.values import made_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parent
PAGE = settings.BASE_DIR / "docs/reference/published-clients.md"
INSTALL_TIMEOUT_S, RUN_TIMEOUT_S = 180, 120
NOT_SENT, UNREADABLE = "not sent", "not read"
COUNTED = ("works", "not offered", NOT_SENT, UNREADABLE)
NO_SUCH_PATH = "no_such_path"
MARK = "/-/"  # before the name of the method that is called next
OF_A_CONNECTION = {
    *("host", "connection", "content-length", "transfer-encoding", "accept-encoding")
}
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class NotInstalled(Exception):
    """A package can't be installed, as without a registry or without npm."""


@dataclass(frozen=True, slots=True)
class PublishedClient:
    """A package of a registry; `main` is the class of a Python client.

    `own` are values of single methods that only this client needs.
    """

    package: str
    version: str
    main: str = ""
    module: str = ""
    is_current: bool = True
    own: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """Return what the page calls it."""
        return f"{self.package} {self.version}"


# The newest of each name, and older ones that are in use.
CLIENTS = (
    PublishedClient(
        *("@tryvital/vital-node", "3.0.9"),
        is_current=False,
        own={"lab_tests.create_order": {}},  # takes one lab_test_id, no order_set
    ),
    PublishedClient("@tryvital/vital-node", "3.1.551"),
    PublishedClient("@junction-api/sdk", "1.3.0"),
    PublishedClient("vital", "2.1.200", "Vital", "vital", is_current=False),
    PublishedClient("vital", "2.1.569", "Vital", "vital"),
    PublishedClient("junction-api-sdk", "2.0.0", "Junction", "junction"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a method.

    `http` is the call that was sent, empty if none was; `code` and `why` are of a
    refusal; `fault` is the client's own error.
    """

    http: str
    status: int
    code: str
    why: str
    fault: str

    @property
    def is_absent(self) -> bool:
        """Return whether this server says that it does not offer the call."""
        return self.code == CODE

    @property
    def is_refused(self) -> bool:
        """Return whether this server refused the values."""
        return self.status >= 400 and not self.is_absent

    @property
    def words(self) -> str:
        """Return the cell of the table."""
        if not self.http:
            return NOT_SENT
        if self.is_absent:
            return "not offered"
        if self.is_refused:
            return f"{self.status} `{self.code}`" if self.code else str(self.status)
        return UNREADABLE if self.fault else "works"


class _Recorder(BaseHTTPRequestHandler):
    """Passes requests on and notes each under the method named before it."""

    target: ClassVar[str]
    seen: ClassVar[dict[str, tuple[str, int, str, str]]]
    now: ClassVar[list[str]]
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        if self.path.startswith(MARK):
            self.now[:] = [self.path.removeprefix(MARK)]
            self._reply(204, [], b"")
            return
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else b""
        if "chunked" in self.headers.get("transfer-encoding", ""):
            body = self._read_chunks()
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in OF_A_CONNECTION
        }
        answer = httpx.request(
            self.command,
            self.target + self.path,
            headers=headers | {"accept-encoding": "identity"},
            content=body,
            timeout=60,
        )
        path = _ID.sub("{id}", self.path.partition("?")[0])
        self.seen[self.now[0]] = (
            f"{self.command} {path}",
            answer.status_code,
            *_read_refusal(answer),
        )
        self._reply(answer.status_code, answer.headers.multi_items(), answer.content)

    # The names that the library calls.
    do_GET = do_POST = do_PUT = handle_any  # noqa: N815
    do_PATCH = do_DELETE = handle_any  # noqa: N815

    def _read_chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _reply(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in OF_A_CONNECTION:
                self.send_header(name, value)
        if status not in {204, 304}:  # which have no body, RFC 9110, 8.6
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


def run_client(client: PublishedClient, address: str, key: str) -> dict[str, Outcome]:
    """Install a client, call all its methods, and return their outcomes by name.

    Raises: NotInstalled.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = _install(client, Path(folder))
        with made_values(address, key) as values, _recording(address) as recorder:
            values["by_method"] |= client.own
            done = subprocess.run(
                [*command, recorder.address, key],
                input=json.dumps(values),
                capture_output=True,
                text=True,
                timeout=RUN_TIMEOUT_S,
                check=False,
            )
    if done.returncode:
        raise RuntimeError(f"{client.name}: {done.stderr[-2000:]}")
    outcomes = {}
    for line in done.stdout.splitlines():
        told = json.loads(line)
        sent = recorder.seen.get(told["method"], ("", 0, "", ""))
        http, status, code, why = sent
        outcomes[told["method"]] = Outcome(http, status, code, why, told["fault"])
    return outcomes


def list_faults(
    runs: Mapping[PublishedClient, Mapping[str, Outcome]],
) -> list[str]:
    """Return what is wrong: an answer that a client in use can't read, a fault of the
    server, or a path that it does not know.
    """
    return [
        f"{client.name} {method}: {outcome.words} {outcome.http} {outcome.fault}"
        for client, outcomes in runs.items()
        for method, outcome in outcomes.items()
        if outcome.status >= 500
        or (outcome.words == UNREADABLE and client.is_current)
        or outcome.code == NO_SUCH_PATH
    ]


def write_page(runs: Mapping[PublishedClient, Mapping[str, Outcome]]) -> str:
    """Write the page: a row a method, a column a client."""
    methods = sorted({method for outcomes in runs.values() for method in outcomes})
    lines = [
        *("# Published clients", ""),
        "<!-- Generated by `uv run python -m tests.contract.clients --write`. Do not "
        "edit. -->",
        "",
        "This page shows which methods of published client libraries work with Assay. "
        "Each method was called once in a sandbox with sample values, so a refusal "
        "depends on these values.",
        "",
        "| Cell | Meaning |",
        "|---|---|",
        "| works | The client sent the call and read the response. |",
        "| a status | The server refused the values: see *Refused calls*. |",
        "| not offered | The server answers 404 `not_offered` with the reason: see"
        " *Calls that are not offered*. |",
        "| not sent, not read | The client rejected the values or the response: see "
        "*Rejected by the client*. |",
        "| - | The client does not have this method. |",
        "",
        "Set the client's base URL to your server and its key to one of your API keys. "
        "These clients send the key as `x-vital-api-key`, which Assay accepts unless "
        "`API_FORMER_KEY_HEADER` is false.",
        "",
        "| Client | Methods | Work | Refused | Not offered | Not sent | Not read |",
        "|---|---|---|---|---|---|---|",
    ]
    for client, outcomes in runs.items():
        words = [each.words for each in outcomes.values()]
        counts = [words.count(one) for one in COUNTED]
        works, absent, unsent, unread = counts
        lines.append(
            f"| {client.name} | {len(words)} | {works} | {len(words) - sum(counts)}"
            f" | {absent} | {unsent} | {unread} |"
        )
    lines += ["", "## Methods", ""]
    lines.append("| Method | " + " | ".join(client.name for client in runs) + " |")
    lines.append("|---" * (len(runs) + 1) + "|")
    for method in methods:
        cells = [
            outcomes[method].words if method in outcomes else "-"
            for outcomes in runs.values()
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    every = [
        (client, method, outcome)
        for client, outcomes in runs.items()
        for method, outcome in sorted(outcomes.items())
    ]
    absent_calls = {
        (outcome.http, outcome.why) for _, _, outcome in every if outcome.is_absent
    }
    refusals = {
        (method, f"{outcome.words} | {_tidy(outcome.why)}")
        for _, method, outcome in every
        if outcome.is_refused
    }
    lines += ["", "## Refused calls", ""]
    lines += ["| Method | Response | Reason |", "|---|---|---|"]
    lines += [f"| {method} | {why} |" for method, why in sorted(refusals)]
    lines += ["", "## Calls that are not offered", ""]
    lines += ["| Call | Reason |", "|---|---|"]
    lines += [f"| `{call}` | {why} |" for call, why in sorted(absent_calls)]
    lines += ["", "## Rejected by the client", ""]
    lines += ["| Client | Method | Outcome | Client's error |", "|---|---|---|---|"]
    lines += [
        f"| {client.name} | {method} | {outcome.words} | {_tidy(outcome.fault)} |"
        for client, method, outcome in every
        if outcome.words in {NOT_SENT, UNREADABLE}
    ]
    return "\n".join(lines) + "\n"


def _tidy(text: str) -> str:
    """Return the beginning of an error, in code, without what differs between runs."""
    text = re.sub(r"https?://\S+", "the address", _ID.sub("{id}", text))
    text = re.sub(r"\d{4}-\d\d-\d\d", "{date}", text)
    text = re.sub(r"\d+ validation errors?", "validation errors", text)
    text = " ".join(text.replace("|", "/").replace("`", "'").split())
    return f"`{text[:160]}`" if text else ""


def _read_refusal(answer: httpx.Response) -> tuple[str, str]:
    """Return the code of a refusal and its reason, empty for a success."""
    if answer.status_code < 400:
        return "", ""
    try:
        resolve(answer.request.url.path)
    except Resolver404:
        return NO_SUCH_PATH, ""
    try:
        told = answer.json()
    except ValueError:
        return "", ""
    detail = told.get("detail", "")
    if isinstance(detail, list):
        fields = ".".join(str(each) for each in detail[0]["loc"])
        return "", f"{fields}: {detail[0]['msg']}"
    return str(told.get("code", "")), str(detail)


@contextmanager
def _recording(address: str) -> Iterator[Any]:
    class Recorder(_Recorder):
        target = address
        seen: ClassVar[dict[str, tuple[str, int, str, str]]] = {}
        now: ClassVar[list[str]] = [""]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Recorder.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield Recorder
    finally:
        server.shutdown()
        thread.join()


def _install(client: PublishedClient, folder: Path) -> list[str]:
    """Install a client below a folder, and return the command that calls it."""
    if client.main:
        python = folder / "bin/python"
        if client.package == "junction-api-sdk":
            python = Path(sys.executable)  # a development dependency of this project
        else:
            _run(sys.executable, "-m", "venv", str(folder))
            wanted = f"{client.package}=={client.version}"
            _run(str(python), "-m", "pip", "install", "-q", wanted)
        return [str(python), str(HERE / "driver.py"), client.module, client.main]
    (folder / "package.json").write_text("{}")
    wanted = f"{client.package}@{client.version}"
    _run(
        *("npm", "install", "--loglevel=error", "--no-audit", "--no-fund"),
        *("--ignore-scripts", "--prefix", str(folder), wanted),
    )
    return ["node", str(HERE / "driver.mjs"), str(folder), client.package]


def _run(*command: str) -> None:
    wanted = command[-1]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise NotInstalled(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"{wanted} took too long") from error
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip()
        raise NotInstalled(f"{wanted}: {find_reason_line(said) or done.returncode}")


def find_reason_line(said: str) -> str:
    """Return the line that says why, of what pip or npm said: its first error."""
    lines = said.splitlines()
    errors = (each for each in lines if each.lower().startswith(("error", "npm err")))
    return next(errors, lines[-1] if lines else "")
