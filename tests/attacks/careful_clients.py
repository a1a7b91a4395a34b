"""Clients that repeat what got no answer, and keep what was acknowledged to them.

Each runs in a thread of its own and writes only its own lists.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from typing import TYPE_CHECKING, NamedTuple

import orjson
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.clients import JSON
from tests.factories.labs import ADDRESS, PATIENT
from tests.factories.reports import ROWS, make_pdf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.portal.outages.nodes import WebNode

UPLOAD = "/lab_report/v1/parser/job"
# A client's own pace: two cores also run what serves it.
PAUSE_S = 0.2
KEY_IN_USE_PAUSE_S = 5.0
BATCH_SIZES = (500, 1000)
STEP = timedelta(seconds=1)
# What a repeated call is answered whose first answer was lost.
DONE_BEFORE = {"user": "client_user_id_taken", "simulation": "final_status_unreachable"}


class Batch(NamedTuple):
    """Samples of one call, a second apart."""

    user: str
    first: datetime
    values: list[float]


class Answer(NamedTuple):
    status: int
    body: bytes
    is_busy: bool  # it says when to come back
    seconds: float

    @property
    def code(self) -> str:
        """The code of a refusal, empty where it has none."""
        try:
            return json.loads(self.body)["code"]
        except (ValueError, KeyError, TypeError):
            return ""


class Access(NamedTuple):
    """What a team gave its clients."""

    production: str  # a key
    sandbox: str  # a key
    user_id: str  # of the sandbox
    lab_test_id: str  # of the sandbox


@dataclass
class Traffic:
    """What is under way and what came back, over all clients."""

    give_up_at: float = float("inf")
    killed: str = "nothing"
    killed_at: float = 0.0
    met: int = 0  # requests that were under way then
    under_way: Counter[str] = field(default_factory=Counter)  # by name of the node
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    others: dict[str, list[float]] = field(default_factory=dict)  # when
    longest: tuple[float, str] = (0.0, "nothing")  # seconds, of which call
    numbers: Iterator[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_kill(self, what: str) -> None:
        with self._lock:
            self.killed, self.killed_at = what, time.monotonic()
            self.met = self.under_way.total()

    @contextmanager
    def at(self, node: str) -> Iterator[None]:
        """A request that this node has."""
        with self._lock:
            self.under_way[node] += 1
        try:
            yield
        finally:
            with self._lock:
                self.under_way[node] -= 1

    def note(self, what: str, answer: Answer | None, *, is_known: bool) -> None:
        """Count an answer, None for a lost one; not `is_known`: it is a fault."""
        status = "no answer" if answer is None else str(answer.status)
        with self._lock:
            self.answers[what, status] += 1
            if answer is None:
                return
            self.longest = max(self.longest, (answer.seconds, what))
            if not is_known:
                fault = f"{status} {answer.code} to {what}, {self.killed} killed last"
                since = time.monotonic() - self.killed_at
                self.others.setdefault(fault, []).append(since)

    def complain(self, fault: str) -> None:
        with self._lock:
            self.others.setdefault(fault, []).append(0)

    @property
    def acknowledged(self) -> int:
        with self._lock:
            return sum(n for (_, s), n in self.answers.items() if s.startswith("2"))


class CarefulClient:
    """Calls one team's API through every node, and remembers what was acknowledged.

    What got no answer, or 5xx, is sent again as it was, to the other node, until it is
    answered; an upload of a report, which has no key, is not.
    """

    def __init__(
        self,
        name: str,
        *,
        webs: list[WebNode],
        access: Access,
        traffic: Traffic,
        seed: int,
    ) -> None:
        self.name = name
        self.webs = webs
        self.access = access
        self.traffic = traffic
        self.dice = random.Random(f"{seed} {name}")  # noqa: S311 - no secret
        # Acknowledged.
        self.users: dict[str, str] = {}  # client_user_id: user_id
        self.batches: list[Batch] = []
        self.orders: dict[str, bytes] = {}  # key: answer
        self.simulated: set[str] = set()
        self.reports: dict[str, str] = {}  # job: marker
        # Sent, and not known to be done.
        self.unknown_users: list[str] = []
        self.unknown_batches: list[Batch] = []
        self.unknown_keys: dict[str, float] = {}  # in use until then
        self.unknown_markers: list[str] = []
        self._batches_of: Counter[str] = Counter()
        self._unread: list[str] = []  # jobs

    def run(self, stopping: threading.Event) -> None:
        """Call at random until `stopping`, then find out what is not known yet."""
        actions: dict[Callable[[], None], int] = {
            self.send_samples: 12,
            self.place_order: 4,
            self.upload_report: 2,
            self.create_user: 2,
        }
        self.create_user()
        while not stopping.wait(PAUSE_S):
            (act,) = self.dice.choices([*actions], [*actions.values()])
            act()
            self._settle_keys()
        while self.unknown_keys and not self._gives_up:
            time.sleep(PAUSE_S)
            self._settle_keys()

    def create_user(self) -> None:
        client_user_id = f"{self.name}-{next(self.traffic.numbers)}"
        body = orjson.dumps({"client_user_id": client_user_id})
        answered = self._call("user", "/v2/user", body, key=self.access.production)
        if answered is None:
            self.unknown_users.append(client_user_id)
            return
        answer = json.loads(answered)
        self.users[client_user_id] = answer.get("detail", answer)["user_id"]

    def send_samples(self) -> None:
        """Send a batch of moments that nobody has sent; all of them have to be new."""
        if not self.users:
            return
        user = self.dice.choice([*self.users.values()])
        size = self.dice.randint(*BATCH_SIZES)
        place = self._batches_of[user]
        self._batches_of[user] += 1
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        first = midnight - timedelta(days=20) + place * BATCH_SIZES[1] * STEP
        start = self.dice.randrange(100_000)
        values = [40 + (start + i * 7) % 140_000 / 1000 for i in range(size)]
        batch = Batch(user, first, values)
        samples = [
            {"timestamp": first + i * STEP, "timezone_offset": 0, "value": value}
            for i, value in enumerate(values)
        ]
        body = {"provider": "oura", "source_type": "ring", "data": samples}
        answered = self._call(
            "samples",
            f"/v2/timeseries/{user}/heartrate",
            orjson.dumps(body),
            key=self.access.production,
        )
        if answered is None:
            self.unknown_batches.append(batch)
            return
        self.batches.append(batch)
        counts = json.loads(answered)
        # None: the first call, whose answer was lost, had stored them.
        if counts["created"] not in {0, size} or counts["updated"] or counts["dropped"]:
            self.traffic.complain(f"of a new batch {counts}")

    def place_order(self) -> None:
        """Place an order under a key, then let the sandbox walk it to its end."""
        self._place(f"{self.name}-{next(self.traffic.numbers)}")

    def repeat_orders(self) -> int:
        """Send each acknowledged key again; how many got another answer than then."""
        return sum(
            self._send_order(key) != answer for key, answer in self.orders.items()
        )

    def upload_report(self) -> None:
        """Upload a report once the last one is read; each has a value of its own."""
        if self._unread and not self._is_read(self._unread[0]):
            return
        marker = f"{70 + next(self.traffic.numbers) % 3000 / 100:.2f}"
        rows = ((ROWS[0][0], marker, *ROWS[0][2:]), *ROWS[1:])
        file = SimpleUploadedFile("report.pdf", make_pdf(rows=rows), "application/pdf")
        form = {"user_id": self.access.user_id, "file": file}
        answered = self._call(
            "report",
            UPLOAD,
            encode_multipart(BOUNDARY, form),
            key=self.access.sandbox,
            is_repeated=False,
            content_type=MULTIPART_CONTENT,
        )
        if answered is None:
            self.unknown_markers.append(marker)
            return
        job = json.loads(answered)["id"]
        self.reports[job] = marker
        self._unread = [job]

    def _is_read(self, job: str) -> bool:
        answered = self._call(
            "reading", f"{UPLOAD}/{job}", None, key=self.access.sandbox
        )
        return answered is not None and json.loads(answered)["status"] == "completed"

    def _place(self, key: str) -> None:
        answered = self._send_order(key)
        if answered is None:  # its node died with it, and it is in use for a minute
            self.unknown_keys[key] = time.monotonic() + KEY_IN_USE_PAUSE_S
            return
        self.unknown_keys.pop(key, None)
        self.orders[key] = answered
        order = json.loads(answered)["order"]["id"]
        path = f"/v3/order/{order}/test?delay=1"
        if self._call("simulation", path, b"{}", key=self.access.sandbox) is not None:
            self.simulated.add(order)

    def _send_order(self, key: str) -> bytes | None:
        order = {
            "user_id": self.access.user_id,
            "order_set": {"lab_test_ids": [self.access.lab_test_id]},
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
        }
        return self._call(
            "order",
            "/v3/order",
            orjson.dumps(order),
            key=self.access.sandbox,
            x_idempotency_key=key,
        )

    def _settle_keys(self) -> None:
        now = time.monotonic()
        for key in [key for key, at in self.unknown_keys.items() if at < now]:
            self._place(key)

    @property
    def _gives_up(self) -> bool:
        return time.monotonic() > self.traffic.give_up_at

    def _call(
        self,
        what: str,
        path: str,
        body: bytes | None,
        *,
        key: str,
        is_repeated: bool = True,
        **headers: str,
    ) -> bytes | None:
        """The body of a success; None where it is not known to be one."""
        headers = {"content_type": JSON, "x_service_api_key": key, **headers}
        place, was_lost = self.dice.randrange(len(self.webs)), False
        while not self._gives_up:
            answer = self._send(self.webs[place], path, body, headers)
            is_done = answer is not None and (
                answer.status // 100 == 2
                or (was_lost and answer.code == DONE_BEFORE.get(what, "none"))
            )
            is_known = answer is None or is_done or answer.status == 409
            is_known = is_known or (answer.status == 503 and answer.is_busy)
            self.traffic.note(what, answer, is_known=is_known)
            if answer is not None and is_done:
                return answer.body
            if answer is not None and answer.status < 500:
                return None
            was_lost = True
            if not is_repeated:
                return None
            place = (place + 1) % len(self.webs)
            time.sleep(PAUSE_S)
        return None

    def _send(
        self, web: WebNode, path: str, body: bytes | None, headers: dict[str, str]
    ) -> Answer | None:
        began = time.monotonic()
        try:
            with web.send(path, body, **headers) as client, self.traffic.at(web.name):
                reply = client.getresponse()
                return Answer(
                    reply.status,
                    reply.read(),
                    bool(reply.headers["Retry-After"]),
                    time.monotonic() - began,
                )
        except (OSError, HTTPException):
            return None
