"""Keep the demo's sign-ins, API keys and secret key between runs, as files under var.

The files have mode 600. portal.demo.access compares them with the database.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class DemoNotes:
    """The content of var/demo.json.

    `email` and `password` sign the owner of both teams in, `operator_email` and
    `operator_password` the operator; `api_keys` maps a team's slug to its sandbox key;
    `webhooks_port` is the port of the webhook receiver, 0 where none runs.
    """

    address: str = ""
    email: str = ""
    password: str = ""
    api_keys: dict[str, str] = field(default_factory=dict)
    webhooks_port: int = 0
    operator_email: str = ""
    operator_password: str = ""


def demo_credentials_path() -> Path:
    """Return the path of the notes."""
    return Path(settings.VAR_DIR) / "demo.json"


def read_demo_credentials() -> DemoNotes:
    """Return the notes of the last run, empty ones if the file is missing or bad."""
    try:
        stored = json.loads(demo_credentials_path().read_text())
        return DemoNotes(
            address=str(stored["address"]),
            email=str(stored["email"]),
            password=str(stored["password"]),
            api_keys={str(slug): str(key) for slug, key in stored["api_keys"].items()},
            webhooks_port=int(stored.get("webhooks_port", 0)),
            operator_email=str(stored.get("operator_email", "")),
            operator_password=str(stored.get("operator_password", "")),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return DemoNotes()


def write_demo_credentials(notes: DemoNotes) -> None:
    """Replace the notes in one step, readable by their owner only."""
    _write(demo_credentials_path(), json.dumps(asdict(notes), indent=2) + "\n")


def delete_demo_credentials() -> None:
    """Delete the notes, so that the next run creates new passwords and keys."""
    demo_credentials_path().unlink(missing_ok=True)


def load_or_create_demo_secret_key() -> str:
    """Return the key that signs sessions; it is created once and outlives restarts."""
    path = Path(settings.VAR_DIR) / "demo-secret-key"  # settings.py reads it
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        key = ""
    if not key:
        key = secrets.token_urlsafe(50)
        _write(path, key + "\n")
    return key


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    fresh.replace(path)
