"""An update of a lab's catalogue of 2 000 tests: checked, applied and exported.

Run `python -m tests.bench.labs.catalogue_update`. Must: first import and update each
within 60 s, of tests with two results each in a hundred panels; and the same bytes out.
"""

from __future__ import annotations

import sys
import time

from tests.bench.stage import database

TESTS, PANELS, MUST_SECONDS = 2_000, 100, 60.0


def build_files(price: int) -> dict[str, bytes]:
    """Return the files of a lab whose tests all have this price."""
    tests = [
        f"north,T{n:04},Test {n},panel,serum,serum_gel,{price}.00"
        for n in range(1, TESTS + 1)
    ]
    results = [
        f"north,T{n:04},R{part},Result {part} of {n},numeric,mg/dL,1,{9 + part}"
        for n in range(1, TESTS + 1)
        for part in (1, 2)
    ]
    headers = {
        "labs": "slug,name,first_line_address,city,zipcode,"
        "collection_methods,sample_types",
        "markers": "lab,provider_id,name,type,sample_type,container,price",
        "expected_results": "lab,marker,provider_id,name,result_type,unit,low,high",
    }
    lab = "north,North Lab,1 Sample Street,Page,86040,walk_in_test,serum"
    lines = {"labs": [lab], "markers": tests, "expected_results": results}
    return {
        name: "\n".join([headers[name], *lines[name], ""]).encode() for name in headers
    }


def main() -> int:
    """Measure and print; 1 if a limit is broken."""
    with database():
        from labs.models import Lab, Marker
        from labs.operations.catalogue.catalogue_export import export_lab_catalogue
        from labs.operations.catalogue.import_catalogue import (
            apply_catalogue_update,
            check_catalogue_update,
        )
        from portal.lib.tenancy import across_tenants
        from tests.factories.accounts import ACTOR, make_team, make_tenant
        from tests.factories.labs import make_lab_test

        def measure(price: int) -> float:
            begun = time.perf_counter()
            with across_tenants(why="measures"):
                draft = check_catalogue_update(
                    contents=build_files(price), actor=ACTOR, is_complete=True
                )
                apply_catalogue_update(update_id=draft.pk, actor=ACTOR)
            return time.perf_counter() - begun

        taken = {"first import": measure(4)}
        lab = Lab.objects.get(slug="north")
        markers = list(Marker.objects.filter(lab=lab))
        tenant = make_tenant(team=make_team(), environment="production")
        for number in range(PANELS):
            held = tuple(markers[number * 20 : number * 20 + 20])
            make_lab_test(tenant=tenant, lab=lab, markers=held, price="80.00")
        taken["update of all"] = measure(5)
        taken["update of nothing"] = measure(5)
        begun = time.perf_counter()
        first = export_lab_catalogue(labs=Lab.objects.filter(pk=lab.pk))
        taken["export"] = time.perf_counter() - begun
        with across_tenants(why="measures"):
            draft = check_catalogue_update(contents=first, actor=ACTOR)
        again = export_lab_catalogue(labs=Lab.objects.filter(pk=lab.pk))
        for name, seconds in taken.items():
            print(f"{name}: {seconds:.1f} s")
        is_same = draft.changes == [] and first == again
        print(f"export imports without a difference, and again the same: {is_same}")
    return int(max(taken.values()) > MUST_SECONDS or not is_same)


if __name__ == "__main__":
    sys.exit(main())
