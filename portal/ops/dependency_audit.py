"""Known weaknesses of what we depend on: check_all's step `audit`.

`uv audit` compares uv.lock with the advisories of OSV.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = (
    *("uv", "audit", "--frozen", "--output-format", "json"),
    *("--preview-features", "audit-command,json-output"),
)
# A new advisory is told at once and fails from then on: a day's unrelated work goes on.
GRACE = timedelta(days=14)
TIMEOUT_S = 60
# By id: advisories that do not concern us, each with its reason.
IGNORED: Mapping[str, str] = {}


def has_no_overdue_advisory() -> bool:
    """Return whether no security advisory is past its grace period.

    Each is printed whatever it is. Where OSV can't be asked that is said, and passes: a
    machine without a way out still checks all else.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own command line
            COMMAND,
            cwd=settings.BASE_DIR,
            env=os.environ | {"UV_HTTP_RETRIES": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        found = json.loads(done.stdout)["vulnerabilities"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        sys.stdout.write("Not checked: uv could not ask OSV for its advisories.\n")
        return True
    overdue = 0
    for advisory in found:
        verdict = classify_advisory(advisory, now=timezone.now())
        overdue += verdict == "overdue"
        of = advisory["dependency"]
        fixes = ", ".join(advisory["fix_versions"]) or "no release"
        sys.stdout.write(
            f"{verdict}: {of['name']} {of['version']}, {advisory['id']}, fixed by"
            f" {fixes}: {advisory['link']}\n"
        )
    return not overdue


def classify_advisory(advisory: Mapping[str, Any], *, now: datetime) -> str:
    """Return `ignored`, `unfixed`, `new` or `overdue`; only the last fails."""
    if advisory["id"] in IGNORED:
        return "ignored"
    if not advisory["fix_versions"]:
        return "unfixed"
    published = datetime.fromisoformat(advisory["published"])
    return "new" if now - published < GRACE else "overdue"
