"""Imports that the import contracts do not see: those of types count here too."""

from __future__ import annotations

import grimp
import pytest

from tests.architecture.source import PACKAGES


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(*sorted(PACKAGES), cache_dir=None)


def test_no_two_files_import_each_other_by_whatever_way(graph):
    imports = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    # What imports nothing that is left goes, until only circles stay.
    while ends := [module for module, seen in imports.items() if not seen]:
        for module in ends:
            del imports[module]
        imports = {module: seen & imports.keys() for module, seen in imports.items()}

    assert sorted(imports) == []


def test_the_library_and_the_look_know_no_app(graph):
    apps = {"accounts", "users", "labs", "reports"}
    upward = {
        f"{module} imports {seen}"
        for module in graph.modules
        if module.startswith(("portal.lib", "portal.ui"))
        for seen in graph.find_modules_directly_imported_by(module)
        if seen.split(".")[0] in apps
    }

    assert upward == set()
