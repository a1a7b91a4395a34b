from __future__ import annotations

from pathlib import Path

from django.conf import settings

from tests.architecture.source import PACKAGES

ROOT = Path(settings.BASE_DIR)


def test_each_operation_module_has_its_tests():
    untested = []
    for package in PACKAGES:
        for module in (ROOT / package).rglob("operations/*.py"):
            if module.name == "__init__.py":
                continue
            place = ROOT / "tests" / module.parent.relative_to(ROOT)
            beside = list(place.glob(f"test_{module.stem}*.py"))
            if not beside and not (place / module.stem).is_dir():
                untested.append(str(module.relative_to(ROOT)))

    assert untested == []


def test_no_module_is_named_for_nothing():
    nothing = {"utils", "helpers", "common", "misc", "services", "managers"}
    found = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.stem in nothing
    ]

    assert found == []
