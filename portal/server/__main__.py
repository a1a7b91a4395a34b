"""`python -m portal.server`: serve pages and API until SIGTERM.

Starts the worker processes and starts another for one that dies. SIGTERM closes what is
idle, gives requests at work STOP_S to finish and ends the processes.
"""

from __future__ import annotations

import argparse
import logging
from typing import Any

import uvicorn

from portal.server import STOP_S
from portal.server.connections import IDLE_S, BoundedConnection
from portal.server.processes import detect_dead_web_processes

# How uvicorn serves, whatever it serves.
OPTIONS: dict[str, Any] = {
    "interface": "asgi3",
    "loop": "uvloop",
    "http": BoundedConnection,
    "ws": "none",
    "lifespan": "on",
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
    "timeout_keep_alive": IDLE_S,
    "timeout_graceful_shutdown": STOP_S,
    # Seconds after which a process that gives no sign of life is replaced. Long: a
    # machine under load is no reason to kill what works.
    "timeout_worker_healthcheck": 60,
}


def serve_from_command_line() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="portal.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument(
        "--application",
        default="portal.server.application:application",
        help="what to serve, for benches",
    )
    parser.add_argument(
        "--log-level", default="info", choices=["error", "warning", "info", "debug"]
    )
    options = parser.parse_args()
    logging.basicConfig(
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    detect_dead_web_processes()
    uvicorn.run(
        options.application,
        host=options.host,
        port=options.port,
        workers=options.workers,
        log_level=options.log_level,
        **OPTIONS,
    )


if __name__ == "__main__":
    serve_from_command_line()
