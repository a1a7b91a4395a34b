"""What another tenant waits while one sends PDFs whose page draws itself.

Run `python -m tests.bench.upload_attack [--uploads N]`. Two web processes of four
threads and a worker serve a database of their own; one tenant sends N such files at
once, again and again for some 20 s, and another reads its user all the while.
Printed: the slowest and the median read in seconds, without and with the attack, how
uploads were answered and how long the slowest took, and how much of the processor all
web processes and their children used.
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.stage import SERVED_SECRET_KEY, Served, database

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
PORT = 23_517
LASTS_S = 20
EVERY_S = 0.05
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def processes(database_url: str, folder: str) -> Iterator[Served]:
    """The web as deploy/start makes it, and a worker."""
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "SECRET_KEY": SERVED_SECRET_KEY,
        "VAR_DIR": folder,
        "ALLOWED_HOSTS": HOST,
        "STATICFILES_COLLECTED": "false",
        "API_RATE_LIMIT": "0",
        "LOG_LEVEL": "CRITICAL",
        "WEB_HOST": HOST,
        "WEB_PORT": str(PORT),
        "WEB_WORKERS": "2",
        "WEB_THREADS": "4",
    }
    start = [str(ROOT / "deploy/start")]
    web = subprocess.Popen([*start, "web", "--log-level", "error"], env=environment)
    worker = subprocess.Popen([sys.executable, "manage.py", "worker"], env=environment)
    try:
        while True:
            with suppress(OSError, http.client.HTTPException):
                if call("GET", "/healthz")[0] == 200:
                    break
            time.sleep(0.1)
        yield Served(web, PORT)
    finally:
        for each in (worker, web):
            each.terminate()
        time.sleep(5)
        for each in (worker, web):
            each.kill()
            each.wait()


def call(method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
    """Status and body of a request on a connection of its own."""
    client = http.client.HTTPConnection(HOST, PORT, timeout=120)
    try:
        client.request(
            method, path, body, {k.replace("_", "-"): v for k, v in headers.items()}
        )
        reply = client.getresponse()
        return reply.status, reply.read()
    finally:
        client.close()


class Reader:
    """Another tenant, who reads one user again and again."""

    def __init__(self, key: str, path: str) -> None:
        self.key, self.path = key, path
        self.took: list[float] = []

    def read_for(self, ended: threading.Event) -> None:
        while not ended.is_set():
            began = time.monotonic()
            status, _ = call("GET", self.path, x_service_api_key=self.key)
            assert status == 200, status
            self.took.append(time.monotonic() - began)
            time.sleep(EVERY_S)

    def tell(self, words: str) -> None:
        number = len(self.took)
        slowest, median = max(self.took), statistics.median(self.took)
        print(f"{words}: slowest {slowest:.2f} s, median {median:.3f} s of {number}")
        self.took.clear()


def attack(send: Any, uploads: int) -> None:
    """Send the file so often at once, and again until the time is over."""
    answers: Counter[tuple[int, bytes]] = Counter()
    took = []

    def once() -> None:
        began = time.monotonic()
        answers[send()] += 1
        took.append(time.monotonic() - began)

    def again() -> None:
        while time.monotonic() < end:
            once()

    end = time.monotonic() + LASTS_S
    with ThreadPoolExecutor(uploads) as pool:
        for running in [pool.submit(again) for _ in range(uploads)]:
            running.result()
    print("uploads:", dict(answers), f"slowest {max(took):.2f} s")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--uploads", type=int, default=12)
    uploads = asked.parse_args().uploads
    with database() as url, tempfile.TemporaryDirectory() as folder:
        from django.core.files.uploadedfile import SimpleUploadedFile
        from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

        from tests.factories.accounts import make_api_key, make_team, make_tenant
        from tests.factories.reports import make_loop
        from tests.factories.users import make_user

        theirs, ours = (
            make_tenant(team=make_team(name)) for name in ("Mallory", "Bob")
        )
        user = make_user(tenant=ours)
        reader = Reader(make_api_key(tenant=ours), f"/v2/user/{user.uuid}")
        key = make_api_key(tenant=theirs)
        file = SimpleUploadedFile("a.pdf", make_loop(), "application/pdf")
        form = {"user_id": str(make_user(tenant=theirs).uuid), "file": file}
        body = encode_multipart(BOUNDARY, form)

        def send() -> tuple[int, bytes]:
            status, answer = call(
                "POST",
                "/lab_report/v1/parser/job",
                body,
                content_type=MULTIPART_CONTENT,
                x_service_api_key=key,
            )
            return status, b"upload_pending" if b"upload_pending" in answer else answer[
                -40:
            ]

        with processes(url, folder) as web:
            for words, work in (
                ("alone", lambda: time.sleep(5)),
                ("attacked", lambda: attack(send, uploads)),
            ):
                ended, spent = threading.Event(), web.cpu_seconds()
                thread = threading.Thread(target=reader.read_for, args=(ended,))
                thread.start()
                work()
                ended.set()
                thread.join()
                reader.tell(words)
                print(f"web: {web.cpu_seconds() - spent:.1f} s of the processor")


if __name__ == "__main__":
    main()
