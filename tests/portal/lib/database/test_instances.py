from __future__ import annotations

import pytest
from django.db import models

from labs.models import Lab
from portal.lib.database.instances import (
    Columns,
    find_kept_rows,
    keep_all_related,
    keep_related,
)


def test_columns_build_instances_that_defer_the_rest():
    columns = Columns(Lab, "lab", ["name", "id"])

    lab = columns.build([7, "Seven"])
    keep_related(lab, "owner", None)
    keep_all_related(lab, "markers", [])

    assert columns.sql == 'lab."id", lab."name"'
    assert len(columns) == 2
    assert (lab.pk, lab.name, lab.owner, list(lab.markers.all())) == (
        7,
        "Seven",
        None,
        [],
    )
    assert not lab._state.adding
    assert find_kept_rows(lab, "markers") == []
    assert find_kept_rows(lab, "versions") is None
    assert "slug" in lab.get_deferred_fields()


def test_columns_that_are_none_or_that_the_orm_converts_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="nothing"):
        Columns(Lab, "lab", ["id", "nothing"])
    with monkeypatch.context() as patched:
        patched.setattr(Lab, "from_db", classmethod(lambda *_: None))
        with pytest.raises(ValueError, match="makes instances"):
            Columns(Lab, "lab")
    monkeypatch.setattr(models.SlugField, "from_db_value", str, raising=False)
    with pytest.raises(ValueError, match="slug"):
        Columns(Lab, "lab")
