from __future__ import annotations

from importlib import import_module

import pytest

from accounts.webhooks import catalogue
from accounts.webhooks.catalogue import (
    EventType,
    filter_covers_event_type,
    load_event_types,
)

DECLARING = ("reports", "labs", "users", "accounts.webhooks")


def test_the_event_types_of_every_app_are_found():
    declared = [
        kind for app in DECLARING for kind in import_module(f"{app}.events").EVENT_TYPES
    ]

    assert list(load_event_types().items()) == [(kind.name, kind) for kind in declared]


def test_two_event_types_of_one_name_are_refused(monkeypatch):
    kind = EventType("a.created", "", {})
    monkeypatch.setattr(
        catalogue, "import_declarations", lambda *_: {"labs": (kind,), "users": (kind,)}
    )

    with pytest.raises(ValueError, match="two event types have one name"):
        load_event_types.__wrapped__()


@pytest.mark.parametrize(
    ("wanted", "is_covered"),
    [
        ("labtest.order.created", True),
        ("labtest.", True),
        ("labtest", False),
        ("labtest.order.deleted", False),
        ("unknown.", False),
    ],
)
def test_a_filter_is_an_event_type_or_a_prefix_of_one(wanted, is_covered):
    assert filter_covers_event_type(wanted) == is_covered
