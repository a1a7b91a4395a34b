"""The processes of a web server, as uvicorn starts and replaces them."""

from __future__ import annotations

from uvicorn.supervisors import multiprocess


class WatchedProcess(multiprocess.Process):
    """A process whose death is seen also by who waits for a sign of its life.

    Source: Ours: uvicorn keeps the process's own end of their pipe open, so that of one
    that dies before it answers it would wait for the whole time that a busy one may
    take, and meanwhile replace no process and heed no signal.
    """

    def start(self) -> None:
        """Start it; its end of the pipe is its own from now on."""
        super().start()
        self.child_conn.close()


def detect_dead_web_processes() -> None:
    """Make uvicorn notice at once when a web process dies."""
    multiprocess.Process = WatchedProcess  # type: ignore[misc]
