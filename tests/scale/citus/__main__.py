"""Run the tests of samples on Citus: a coordinator and two workers on loopback.

`python -m tests.scale.citus --source PATH [arguments of pytest]` builds Citus from a
checkout that fits the bundled PostgreSQL (once for each commit of it), starts the
servers, migrates and distributes a database, and runs on it what reads and writes
samples, then the tests of this folder: lost workers, a coordinator that dies in
mid-commit, a worker that is added. Needs gcc, make and the headers of OpenSSL.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

from tests.private_server import HOST, ROLE
from tests.scale.citus.building import build_citus
from tests.scale.citus.cluster import Cluster
from tests.scale.citus.plugin import CitusPlugin

DATABASE = "assay_test"
TESTS = (
    "tests/users/store",
    "tests/users/wearables",
    "tests/users/analysis",
    "tests/users/api/v2",
    "tests/users/operations",
    "tests/users/web/users/test_erasures.py",
    "tests/exchange/operations/lake",
    "tests/accounts/operations/teams/test_retention.py",
    "tests/architecture/test_user_data.py",
    "tests/portal/ops/test_backups.py",
    "tests/scale/citus",
)
# One process; the first test waits for the migrations. Ours come last, as they kill
# servers.
OPTIONS = ("-n0", "--timeout=900", "-p", "no:randomly")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    given, rest = parser.parse_known_args()
    programs = build_citus(given.source.resolve())
    cluster = Cluster(programs, DATABASE)
    try:
        port = cluster.coordinator.port
        os.environ["DATABASE_URL"] = f"postgresql://{ROLE}@{HOST}:{port}/{ROLE}"
        os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"  # pg_dump
        are_named = any(Path(each.partition("::")[0]).exists() for each in rest)
        chosen = rest if are_named else [*TESTS, *rest]
        return pytest.main([*OPTIONS, *chosen], plugins=[CitusPlugin(cluster)])
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
