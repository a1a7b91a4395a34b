"""The demo that checks of the interface call, started where none runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

READY_TIMEOUT_S = 240


@contextmanager
def running_demo() -> Iterator[tuple[str, str]]:
    """Yield address and key of the demo that runs, or of one started for the while."""
    found = find_demo()
    if found:
        yield found
        return
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    demo = subprocess.Popen(
        (sys.executable, "manage.py", "demo", "--port", port),
        cwd=settings.BASE_DIR,
        # An application at a source, so that calls about one are not all refused.
        env=os.environ | {"OURA_CLIENT_ID": "none", "OURA_CLIENT_SECRET": "none"},
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + READY_TIMEOUT_S
        while not (found := find_demo()):
            if time.monotonic() > until or demo.poll() is not None:
                raise RuntimeError("the demo did not start")
            time.sleep(1)
        yield found
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait()


def find_demo() -> tuple[str, str] | None:
    """Return address and key of the demo that runs."""
    try:
        notes = json.loads((settings.BASE_DIR / "var/demo.json").read_text())
        answer = httpx.get(f"{notes['address']}/healthz")
    except (OSError, ValueError, httpx.HTTPError):
        return None
    return (notes["address"], notes["api_keys"]["demo"]) if answer.is_success else None
