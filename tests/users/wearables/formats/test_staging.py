from __future__ import annotations

from users.states.imports import ImportFormat
from users.wearables.formats.staging import READERS


def test_every_format_has_a_reader():
    assert set(READERS) == set(ImportFormat)
