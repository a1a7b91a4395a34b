"""Static files whose addresses are worked out once: a page names some sixty of them."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class _RemembersAddresses:
    """Remember the address of each file, which stays as long as the process does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._addresses: dict[str | None, str] = {}

    def url(self, name: str | None, *args: Any, **options: Any) -> str:
        """Return the address of a static file, for a page."""
        address = self._addresses.get(name)
        if address is None:
            address = super().url(name, *args, **options)  # type: ignore[misc]  # of the storage it is mixed into
            self._addresses[name] = address
        return address


class PlainStaticFiles(_RemembersAddresses, StaticFilesStorage):
    """Serve files from where they are written, by their own names."""


class CollectedStaticFiles(_RemembersAddresses, CompressedManifestStaticFilesStorage):
    """Serve collected files, whose names have a digest of their content."""
