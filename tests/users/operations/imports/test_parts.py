from __future__ import annotations

from users.operations.imports.parts import StoredPart


def stored(first, last, **numbers):
    counted = {"created": 0, "updated": 0, "unchanged": 0, "dropped": 0, **numbers}
    return StoredPart(resource="steps", first=first, last=last, **counted)


def test_parts_add_up_by_resource():
    counts = stored("2026-02-02T", "2026-02-03T", created=2).added_to({})

    counts = stored("2026-02-01T", "2026-02-02T", unchanged=3).added_to(counts)

    assert counts == {
        "steps": {
            "created": 2,
            "updated": 0,
            "unchanged": 3,
            "first": "2026-02-01T",
            "last": "2026-02-03T",
        }
    }


def test_a_part_that_was_dropped_whole_is_not_counted():
    assert stored("2026-02-02T", "2026-02-03T", dropped=5).added_to({}) == {}
