"""`manage.py lake`: exports, lists, finds what was changed, and removes."""

from __future__ import annotations

import pytest
import time_machine
from django.core.management import CommandError, call_command

from exchange.models import LakeFile
from tests.exchange.operations.lake.stored import NOW, fill_month

pytestmark = pytest.mark.django_db


def test_the_command_exports_lists_verifies_and_removes(
    tmp_path, settings, alice_tenant, capsys
):
    lake = tmp_path / "lake"
    with pytest.raises(CommandError):
        call_command("lake")
    settings.LAKE_DIR = str(lake)
    with time_machine.travel(NOW, tick=False):
        fill_month(alice_tenant, is_packed=True)

        call_command("lake")
        call_command("lake", "--verify")
        call_command("lake", "--status")

        told = capsys.readouterr().out
        slug = alice_tenant.team.slug
        assert "3 files with" in told
        assert f"{slug} sandbox samples: 2026-09 to 2026-10, 2 files" in told
        (path,) = lake.rglob("summaries.parquet")
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(CommandError):
            call_command("lake", "--verify")
        assert f"changed: {path.relative_to(lake)}" in capsys.readouterr().out
        call_command("lake")
        call_command("lake", "--verify")
        call_command("lake", "--remove")
        assert [path for path in lake.rglob("*") if path.is_file()] == []
        assert not LakeFile.unscoped.exists()
