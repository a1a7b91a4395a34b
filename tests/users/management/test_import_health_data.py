from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.factories.users import make_user
from tests.packed import list_samples
from tests.users.holdings import stored_rows

pytestmark = pytest.mark.django_db
HEADER = "resource,timestamp,value\n"
BEAT = "heartrate,2026-02-28T10:00:00Z,61\n"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


def import_file(tmp_path, user, text, *options, named="u-1"):
    path = tmp_path / "beats.csv"
    path.write_text(text)
    out, err = StringIO(), StringIO()
    team = user.tenant.team.slug
    call_command(
        *("import_health_data", str(path), "--team", team, "--user", named, *options),
        stdout=out,
        stderr=err,
    )
    return out.getvalue(), err.getvalue()


def test_a_file_is_imported_without_a_worker(tmp_path, user):
    out, err = import_file(tmp_path, user, f"{HEADER}{BEAT}moods,2026-02-28,1\n")

    assert out == "heartrate: 1 new, 0 changed, 0 unchanged\n"
    assert err == "skipped 1: Kind not supported\n"
    assert [each.value for each in list_samples(user.pk)] == [61]


def test_a_plan_says_what_would_be_stored_and_stores_nothing(tmp_path, user):
    before = stored_rows(user.tenant)

    out, err = import_file(
        tmp_path,
        user,
        HEADER + BEAT + BEAT.replace("28T", "26T") + "moods,2026-02-28,1\n",
        "--plan",
    )

    assert out == (
        "heartrate: 2, 2026-02-26 to 2026-02-28\n"
        "Times without a zone are read in UTC.\n"
        "Nothing was stored.\n"
    )
    assert err == "skipped 1: Kind not supported\n"
    assert stored_rows(user.tenant) == before


def test_the_same_export_of_a_vendor_again_changes_nothing(tmp_path, user):
    export = (
        "timestamp,bpm,source\n2026-02-20T08:00:00Z,61,rest\n"
        "2026-02-20T08:05:00Z,63,rest\n"
    )

    first, _ = import_file(tmp_path, user, export)
    again, _ = import_file(tmp_path, user, export)

    assert first == "heartrate: 2 new, 0 changed, 0 unchanged\n"
    assert again == "heartrate: 0 new, 0 changed, 2 unchanged\n"


def test_a_user_is_named_by_either_id(tmp_path, user):
    import_file(tmp_path, user, HEADER + BEAT)

    out, _ = import_file(tmp_path, user, HEADER + BEAT, named=str(user.uuid))

    assert out == "heartrate: 0 new, 0 changed, 1 unchanged\n"


@pytest.mark.parametrize(
    ("text", "named", "code"),
    [
        ("a,b\n", "u-1", "unsupported_file_type"),
        (f"{HEADER}moods,2026-02-28,1\n", "u-1", "nothing_to_import"),
        (HEADER + BEAT, "u-2", "not_found"),
    ],
    ids=["no samples", "nothing of ours", "no such user"],
)
def test_what_is_refused_says_why(tmp_path, user, alice_tenant, text, named, code):
    before = stored_rows(alice_tenant)

    with pytest.raises(CommandError, match=code):
        import_file(tmp_path, user, text, named=named)

    assert stored_rows(alice_tenant)["Sample"] == before["Sample"]
