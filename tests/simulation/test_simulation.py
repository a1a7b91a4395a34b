"""The whole portal from one seed; a failure names the seed that plays it again.

`SEEDS=100-200 uv run pytest -m long tests/simulation` plays those, `SEEDS=17` one.
"""

from __future__ import annotations

import os
import subprocess
import traceback

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client

from accounts.operations.api_keys.api_keys import clear_api_key_cache
from labs.models import ServiceCenter
from labs.states.catalogue import CollectionMethod
from reports.operations.jobs import parsing, submission
from reports.operations.reading import page_images
from tests.clients import ApiClient
from tests.factories.accounts import make_api_key, make_member, make_team, make_tenant
from tests.factories.appointments import booking_lab, make_center
from tests.factories.labs import make_lab_test
from tests.factories.webhooks import make_endpoint
from tests.simulation.actions import ACTIONS
from tests.simulation.desk import read_files
from tests.simulation.judge import list_faults
from tests.simulation.planted import PLANTED
from tests.simulation.world import Side, World

pytestmark = pytest.mark.django_db
SHORT = 12  # of some 1.8 s of processor time, and 0.7 s of the database
LONG = 2000
PATIENCE = 120  # seeds, to find a planted fault: some need a rare moment


@pytest.fixture
def sides(db, monkeypatch):
    # Opening and reading strangers' files, and drawing them, is tried by other tests.
    monkeypatch.setattr(submission, "check_upload_files_during_request", bool)
    monkeypatch.setattr(parsing, "check_upload_files", bool)
    monkeypatch.setattr(parsing, "parse_uploaded_files", read_files)
    monkeypatch.setattr(page_images, "render_report_pages", draw_nothing)
    ServiceCenter.objects.all().delete()
    make_center(hours="mon-sun 07:00-07:40")
    made = []
    for name in ("alice", "charlie"):
        team = make_team(f"{name} health")
        tenant = make_tenant(team=team)
        tenant.partial_webhooks_enabled = True
        tenant.lab_report_human_review_enabled = True
        tenant.save()
        web = Client()
        web.force_login(make_member(team=team, email=f"{name}@assay.example"))
        make_endpoint(tenant=tenant)
        walk_in = make_lab_test(tenant=tenant, lab=booking_lab(tenant=tenant))
        kit = make_lab_test(tenant=tenant, method=CollectionMethod.TESTKIT)
        api = ApiClient(make_api_key(tenant=tenant))
        api.raise_request_exception = web.raise_request_exception = False
        panels = (str(walk_in.pk), str(kit.pk))
        made.append((name, tenant, api, web, panels))
    return lambda: tuple(Side(*each) for each in made)


def draw_nothing(*_paths, pages):
    return [None for _ in pages]


def play(seed, sides):
    """Play one seed and undo it; the faults, and what happened."""
    world = World(seed, sides(), ACTIONS)
    with transaction.atomic():
        try:
            world.run()
            faults = list_faults(world)
        except Exception:  # noqa: BLE001 - each is a fault, with its seed
            faults = [traceback.format_exc()]
        transaction.set_rollback(True)
    return faults, world.log


def commit():
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def judge(seed, sides):
    faults, log = play(seed, sides)
    if faults:
        story = "\n".join(log)
        told = "\n".join(faults[:10])
        pytest.fail(f"SEED={seed} at {commit()}\n{told}\n\n{story}", pytrace=False)


def seeds_of(told):
    first, _, last = told.partition("-")
    return range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("first", range(0, SHORT, 3))
def test_what_was_acknowledged_is_there_whatever_goes_wrong(sides, first):
    for seed in range(first, first + 3):
        judge(seed, sides)


def test_a_seed_plays_the_same_again(sides):
    assert play(1, sides) == play(1, sides)


@pytest.mark.long
@pytest.mark.timeout(0)
def test_what_was_acknowledged_is_there_in_thousands_of_runs(sides):
    for seed in seeds_of(os.environ.get("SEEDS") or f"{SHORT}-{LONG}"):
        judge(seed, sides)
        print(f"seed {seed}", flush=True)  # noqa: T201 - shown by -s


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault, sides):
    with PLANTED[fault]():
        for seed in range(PATIENCE):
            clear_api_key_cache()
            if play(seed, sides)[0]:
                print(f"{fault}: by seed {seed}")  # noqa: T201 - shown by -s
                return
    pytest.fail(f"{PATIENCE} seeds did not find that {fault}")
