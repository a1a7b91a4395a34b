"""Compare the lake's files with what is noted of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exchange.models import LakeFile
from exchange.payloads.lake.places import ROOT
from portal.lib.storage.lake import open_lake_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portal.lib.storage import FileStore

_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not as it was written; `what` is missing, changed or unknown."""

    name: str
    what: str


def verify_lake_files() -> Iterator[Fault]:
    """Read every file of the lake and yield those that are not as they were written.

    Those are marked to be written again by the next run. Inside `across_tenants`.
    Raises: storage_unavailable (503).
    """
    store = open_lake_store()
    if store is None:
        return
    known = {f.stored_as: f for f in LakeFile.unscoped.only("stored_as", "sha256")}
    for name, file in sorted(known.items()):
        try:
            found = _digest(store, name)
        except FileNotFoundError:
            found = ""
        if found != file.sha256:
            LakeFile.unscoped.filter(pk=file.pk).update(mark="", sha256="")
            yield Fault(name, "changed" if found else "missing")
    for listed in store.find_files(ROOT):
        if listed.name not in known and not listed.name.endswith("/schema.json"):
            yield Fault(listed.name, "unknown")


def _digest(store: FileStore, name: str) -> str:
    digest = hashlib.sha256()
    with store.open(name) as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
