"""Alice and Bob share a team, Charlie has another; see tests/factories for the rest."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.test import Client, override_settings

from accounts import data_classes  # noqa: F401 - it reads a setting that _folders changes
from accounts.api import auth
from accounts.operations.api_keys.api_keys import clear_api_key_cache
from accounts.states import Environment, Role
from reports.operations.reading import extraction
from tests.clients import ApiClient
from tests.factories.accounts import make_api_key, make_member, make_team, make_tenant
from users.store import partitions

pytest_plugins = [
    "tests.buckets",
    "tests.database",
    "tests.database_roles",
    "tests.fence",
    "tests.jobs",
    "tests.log_watch",
    "tests.packed",
]


# The same algorithm at its least cost: production's was a third of the suite's time.
Argon2PasswordHasher.time_cost = 1
Argon2PasswordHasher.memory_cost = 8  # KiB
Argon2PasswordHasher.parallelism = 1


MOST_PROCESSES = 8  # each has a database
# What takes ten seconds and more comes first: the last tests of a run are short ones
# that its processes share, and none waits a minute for another.
LONGEST = (
    "tests/portal/demo/test_command.py",
    "tests/architecture/test_roles.py",
    "tests/contract/test_any_request.py",
    "tests/attacks/test_uploads.py",
    "tests/reports/test_hostile_files.py",
    "tests/portal/test_upgrade.py",
    "tests/architecture/test_strangers.py",
    "tests/browser/test_sweep.py",
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one process more than processors, as tests wait; none for single files."""
    if all(argument.partition("::")[0].endswith(".py") for argument in config.args):
        return 0
    return min(len(os.sched_getaffinity(0)) + 1, MOST_PROCESSES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish() -> None:
    """Spare what stays to the end, ten thousand tests, each search for garbage.

    Hypothesis calls a strategy too slow by the clock on the wall; on a busy machine the
    first draw of a process is.
    """
    if hypothesis := sys.modules.get("hypothesis"):
        slow = hypothesis.HealthCheck.too_slow
        hypothesis.settings.register_profile("busy", suppress_health_check=[slow])
        hypothesis.settings.load_profile("busy")
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _folders(tmp_path_factory):
    """The folders of uploads, of labs, of what is kept between runs: this process's."""
    base = tmp_path_factory.mktemp("process")
    storages = {
        **settings.STORAGES,
        "default": {
            **settings.STORAGES["default"],
            "OPTIONS": {
                **settings.STORAGES["default"]["OPTIONS"],
                "location": base / "uploads",
            },
        },
    }
    with override_settings(
        VAR_DIR=base / "var",
        AUDIT_ANCHORS=base / "var/audit-anchors.ndjson",
        UPLOADS_DIR=base / "uploads",
        HL7_DIR=base / "hl7",
        LAB_GATEWAY="hl7",  # production needs one
        STORAGES=storages,
        EMAIL_URL="smtp://mail.assay.example",  # what tests send stays in mail.outbox
        API_CALL_LOG_DAYS=0,  # its thread would write beside the tests
    ):
        yield base


@pytest.fixture(autouse=True)
def _clean_process(_folders, monkeypatch):
    """Nothing that a process keeps, upload or mail outlives its test."""
    # A key that is forgotten halfway costs a query more, on a busy machine.
    monkeypatch.setattr(auth, "clock", lambda: 0.0)
    clear_api_key_cache()
    # On a busy machine a look that costs 0.4 s of the processor may take longer.
    monkeypatch.setattr(extraction, "QUICK_INSPECT_TIMEOUT", timedelta(seconds=60))
    # A month that another test saw committed is a statement less.
    monkeypatch.setattr(partitions, "_known", set())
    yield
    clear_api_key_cache()
    for left in _folders.iterdir():
        shutil.rmtree(left)


@pytest.fixture
def alice_team(db):
    return make_team("Alice Health")


@pytest.fixture
def alice_tenant(alice_team):
    return make_tenant(team=alice_team)


@pytest.fixture
def alice_production(alice_team):
    return make_tenant(team=alice_team, environment=Environment.PRODUCTION)


@pytest.fixture
def alice(alice_team):
    return make_member(team=alice_team, email="alice@assay.example")


@pytest.fixture
def bob(alice_team):
    return make_member(team=alice_team, email="bob@assay.example", roles=(Role.VIEWER,))


@pytest.fixture
def charlie_team(db):
    return make_team("Charlie Care")


@pytest.fixture
def charlie_tenant(charlie_team):
    return make_tenant(team=charlie_team)


@pytest.fixture
def charlie(charlie_team):
    return make_member(team=charlie_team, email="charlie@assay.example")


@pytest.fixture
def alice_api(alice_tenant):
    return ApiClient(make_api_key(tenant=alice_tenant))


@pytest.fixture
def alice_production_api(alice_production):
    return ApiClient(make_api_key(tenant=alice_production))


@pytest.fixture
def charlie_api(charlie_tenant):
    return ApiClient(make_api_key(tenant=charlie_tenant))


@pytest.fixture
def alice_web(alice):
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def charlie_web(charlie):
    client = Client()
    client.force_login(charlie)
    return client
