"""Start, watch, restart and stop the demo's child processes."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WARDEN = Path(__file__).with_name("warden.py")
RESTARTS = 3  # within RESTART_WINDOW_S; more means that it cannot run
RESTART_WINDOW_S = 60.0


@dataclass(slots=True)
class DemoProcess:
    """One long-running command, restarted when it dies.

    `stop_timeout_s` is how long it may take to end when asked, before it is killed.
    """

    name: str
    command: list[str]
    environment: Mapping[str, str]
    stop_timeout_s: float
    warden: subprocess.Popen[bytes] | None = None
    restarts: deque[float] = field(default_factory=lambda: deque(maxlen=RESTARTS))

    def start(self) -> None:
        """Start the command in its own session, so that Ctrl-C does not reach it."""
        self.warden = subprocess.Popen(  # noqa: S603 - our own command line
            [sys.executable, "-I", "-S", str(WARDEN), *self.command],
            stdin=subprocess.PIPE,
            env=dict(self.environment),
            start_new_session=True,
        )

    def has_ended(self) -> bool:
        """Whether it was started and has ended."""
        return self.warden is not None and self.warden.poll() is not None

    def restart(self) -> bool:
        """Restart it; False, without a start, when it ended too often recently."""
        now = time.monotonic()
        if len(self.restarts) == RESTARTS and now - self.restarts[0] < RESTART_WINDOW_S:
            return False
        self.restarts.append(now)
        self.stop()
        self.start()
        return True

    def stop(self) -> None:
        """Stop it; kill it and its children when it takes too long."""
        if self.warden is None:
            return
        self.warden.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.warden.wait(self.stop_timeout_s)
        # Closing the pipe is the kill.
        if self.warden.stdin:
            self.warden.stdin.close()
        self.warden.wait()
