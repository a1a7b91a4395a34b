"""What apps declare is found in the apps themselves, and none of it at start."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from django.conf import settings

from accounts.declarations import data_classes
from accounts.declarations.demo_data import list_demo_loaders
from accounts.declarations.hooks import list_app_hooks
from portal.lib.app_modules import import_declarations

SETUP = "import sys, django; django.setup(); print(*sys.modules)"
DECLARING = {
    "pages": "PAGES",
    "hooks": "HOOKS",
    "events": "EVENT_TYPES",
    "data_classes": "DATA_CLASSES",
    "demo.loaders": "LOADERS",
}


@pytest.mark.parametrize(("module", "name"), DECLARING.items())
def test_every_declaration_of_an_app_is_read_from_the_highest_app_down(module, name):
    written = [
        app
        for app in reversed(settings.APPS)
        if (settings.BASE_DIR / f"{app}.{module}".replace(".", "/"))
        .with_suffix(".py")
        .exists()
    ]

    found = import_declarations(module, name)

    assert list(found) == written
    assert found == {
        app: getattr(import_module(f"{app}.{module}"), name) for app in written
    }


def test_a_declaring_module_without_its_value_is_refused():
    with pytest.raises(AttributeError, match="PAGE_S"):
        import_declarations("pages", "PAGE_S")


def test_two_classes_of_data_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr(
        data_classes, "import_declarations", lambda *_: {"a": {"x": 1}, "b": {"x": 2}}
    )

    with pytest.raises(ValueError, match="two classes of data have one name"):
        data_classes.load_data_classes.__wrapped__()


def test_each_hook_and_loader_is_declared_in_its_app():
    hooks = list_app_hooks()
    names = {
        field: [
            f"{getattr(call, '__module__', '')}.{getattr(call, '__name__', '')}"
            for app in hooks
            for call in getattr(app, field)
        ]
        for field in (
            *("user_erasers", "user_deletions", "tenant_erasers", "copy_erasers"),
            *("tenant_setups", "person_tests"),
        )
    }

    assert names == {
        "user_erasers": [
            "exchange.operations.bulk_exports.remove_exports_with_user",
            "reports.operations.reading.files.erase_user_reports",
            "labs.operations.erasure.erase_user_orders",
            "users.operations.erasure.erase_user_samples",
            "users.operations.users.export.erase_user_exports",
            "users.operations.imports.files.erase_user_imports",
        ],
        "user_deletions": [
            "labs.operations.appointments.changes.cancel_visits_of_deleted_user"
        ],
        "tenant_erasers": [
            "exchange.operations.lake.erasure.remove_lake_of_tenant",
            "users.operations.users.tenant_erasure.erase_all_users",
        ],
        "copy_erasers": ["exchange.operations.lake.erasure.erase_user_from_lake"],
        "tenant_setups": [
            "labs.operations.catalogue.reference_data.install_reference_panels"
        ],
        "person_tests": ["labs.queries.orders.user_tests.list_latest_tests_of_user"],
    }
    assert [len(app.user_books) for app in hooks] == [0, 0, 0, 1]
    assert [len(app.marker_sources) for app in hooks] == [0, 1, 0, 0]
    # Orders need accounts, messages orders, and visits come after the messages.
    assert [load.__name__ for load in list_demo_loaders()] == [
        "load_demo_lab_accounts",
        "load_demo_orders",
        "load_demo_lab_messages",
        "load_demo_appointments",
        "load_demo_sources",
        "load_demo_phones",
    ]


def test_a_process_imports_no_declaration_before_it_is_needed():
    started = subprocess.run(
        [sys.executable, "-c", SETUP],
        cwd=settings.BASE_DIR,
        env={"DJANGO_SETTINGS_MODULE": "portal.settings", "SECRET_KEY": "x" * 50},
        capture_output=True,
        check=True,
        text=True,
    )

    modules = set(started.stdout.split())
    assert "users.models" in modules
    assert modules & {f"{a}.{m}" for a in settings.APPS for m in DECLARING} == set()
