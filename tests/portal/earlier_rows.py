"""Plant the rows of an installation of the last release, through its own models.

One row or more of each table that people would miss. The models are the historical
ones, so that nothing of today's code has a say; secrets and digests are made the way
that is kept for good.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from accounts.operations.api_keys.api_keys import hash_api_key
from portal.lib.secrets.encryption import encrypt_secret
from users.wearables.timeseries import TIMESERIES

KEY = "sk_us_upgrade_0123456789"
SECRET = "whsec_" + "A" * 32
USER, ORDER, JOB, ENDPOINT = (
    UUID(int=number, version=4) for number in (101, 102, 103, 104)
)
AT = datetime(2024, 11, 20, 8, 30, tzinfo=UTC)
(HEART,) = TIMESERIES["heartrate"].series  # its number, kept for good
ACTOR = {"actor_kind": "member", "actor_label": "dana@assay.example"}
STATUS = "completed.walk_in_test.completed"


class Planter:
    """Makes rows of historical models; `state` is the apps of a migration state."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.tables: set[str] = set()

    def __call__(self, label: str, /, **values: Any) -> Any:
        model = self.state.get_model(label)
        self.tables.add(model._meta.db_table)
        return model._base_manager.create(**values)


def plant(state: Any) -> set[str]:
    """Plant a team's rows of every app; the names of the tables that got any."""
    make = Planter(state)
    tenant, member = _people(make)
    user = _users(make, tenant)
    _labs(make, tenant, user, member)
    _reports(make, tenant, user)
    _webhooks(make, tenant)
    return make.tables


def _people(make: Planter) -> tuple[Any, Any]:
    organisation = make("accounts.Organisation", name="North")
    team = make(
        "accounts.Team", organisation=organisation, name="North Clinic", slug="north"
    )
    tenant = make("accounts.Tenant", team=team, environment="sandbox")
    member = make(
        "accounts.Member",
        email="dana@assay.example",
        email_confirmed_at=AT,
        password="!",
        name="D",
    )
    make("accounts.Membership", team=team, member=member, roles=["owner"])
    make(
        "accounts.ApiKey",
        tenant=tenant,
        label="server",
        prefix=KEY[:6],
        last_four=KEY[-4:],
        digest=hash_api_key(KEY),
    )
    make(
        "accounts.ManagementKey",
        organisation=organisation,
        role="org_admin",
        label="ops",
        prefix="mk_us_",
        last_four="0000",
        digest=hash_api_key("mk"),
    )
    make(
        "accounts.Invitation",
        team=team,
        email="eve@assay.example",
        roles=["viewer"],
        digest=hash_api_key("invitation"),
        expires_at=AT + timedelta(days=7),
    )
    make(
        "accounts.SavedView",
        tenant=tenant,
        member=member,
        page="users:list",
        name="Mine",
        query="q=mbr",
    )
    make(
        "accounts.AuditEntry",
        tenant=tenant,
        verb="create_user",
        subject="user",
        subject_id=str(USER),
        user_uuid=USER,
        actor_key=str(member.pk),
        changes={"client_user_id": [None, "mbr_1"]},
        **ACTOR,
    )
    return tenant, member


def _users(make: Planter, tenant: Any) -> Any:
    user = make("users.User", tenant=tenant, uuid=USER, client_user_id="mbr_1")
    owned = {"tenant": tenant, "user": user}
    make(
        "users.UserInfo",
        **owned,
        first_name="Ada",
        last_name="Example",
        email="ada@assay.example",
        phone_number="+15550101",
        gender="female",
        dob=date(1990, 5, 17),
        address={
            "first_line": "1 Sample Street",
            "second_line": None,
            "city": "Phoenix",
            "state": "AZ",
            "zip": "85004",
            "country": "US",
            "access_notes": None,
        },
    )
    make("users.Connection", **owned, provider="oura", status="connected")
    make(
        "users.Device", **owned, provider="oura", source_type="ring", device_id="ring-1"
    )
    make("users.LinkSession", **owned, provider="oura", expires_at=AT)
    make(
        "users.ImportJob",
        **owned,
        file_name="export.zip",
        format="apple_health",
        size=10,
        sha256="0" * 64,
    )
    make("users.Feed", tenant=tenant, number=1, provider="oura", source_type="ring")
    for minute, value in enumerate((58.0, 61.0, 66.0)):
        make(
            "users.Sample",
            ts=AT + timedelta(minutes=minute),
            user_id=user.pk,
            value=value,
            origin=0,
            tz_offset=3600,
            duration=0,
            series=HEART,
            feed=1,
        )
    return user


def _labs(make: Planter, tenant: Any, user: Any, member: Any) -> None:
    lab = make(
        "labs.Lab",
        id=990_001,
        slug="upgraded-lab",
        name="Northgate",
        first_line_address="2 Sample Street",
        city="Phoenix",
        zipcode="85004",
        collection_methods=["walk_in_test"],
        sample_types=["serum"],
    )
    marker = make(
        "labs.Marker",
        id=990_001,
        lab=lab,
        name="Glucose",
        slug="upgraded-glucose",
        provider_id="990001",
        type="biomarker",
        sample_type="serum",
    )
    panel = make(
        "labs.LabTest",
        tenant=tenant,
        lab=lab,
        name="Metabolic panel",
        slug="metabolic",
        sample_type="serum",
        method="walk_in_test",
        status="active",
    )
    panel.markers.add(marker)
    order = make(
        "labs.Order",
        id=ORDER,
        tenant=tenant,
        user=user,
        lab=lab,
        lab_test=panel,
        transaction=make("labs.OrderTransaction", tenant=tenant, user=user),
        account_reason="none",
        method="walk_in_test",
        status=STATUS,
        patient_name="Ada Example",
        patient_details={
            "first_name": "Ada",
            "last_name": "Example",
            "dob": "1990-05-17",
            "gender": "female",
        },
    )
    owned = {"tenant": tenant, "order": order}
    for status in ("received.walk_in_test.ordered", STATUS):
        make("labs.OrderEvent", **owned, status=status, **ACTOR)
    version = make(
        "labs.ResultVersion",
        **owned,
        number=1,
        is_current=True,
        status="final",
        interpretation="critical",
        reported_at=AT,
        **ACTOR,
    )
    make(
        "labs.Result",
        tenant=tenant,
        version=version,
        position=1,
        name="Glucose",
        slug="glucose",
        type="numeric",
        result="400",
        value=400.0,
        unit="mg/dL",
        reported_at=AT,
        source_markers=[],
    )
    make(
        "labs.CriticalAlert",
        **owned,
        version=version,
        due_at=AT,
        escalate_at=AT,
        acknowledged_at=AT,
        member_id=member.pk,
    )
    make(
        "labs.Appointment",
        **owned,
        type="patient_service_center",
        provider="sandbox",
        status="confirmed",
        address={},
        latitude=33.4,
        longitude=-112.1,
    )


def _reports(make: Planter, tenant: Any, user: Any) -> None:
    job = make(
        "reports.ParsingJob",
        id=JOB,
        tenant=tenant,
        user=user,
        sha256="1" * 64,
        status="completed",
        pages=1,
        metadata={"lab_name": "Northgate"},
        finished_at=AT,
    )
    owned = {"tenant": tenant, "job": job}
    make(
        "reports.ParsingJobTransition",
        **owned,
        old="started",
        new="completed",
        actor_key="worker",
        **ACTOR,
    )
    make(
        "reports.ReportFile",
        **owned,
        position=0,
        stored_as="reports/gone.pdf",
        content_type="application/pdf",
        size=10,
        sha256="1" * 64,
    )
    for position, (name, value) in enumerate((("Glucose", "105"), ("Sodium", "140"))):
        make(
            "reports.ReportResult",
            **owned,
            position=position,
            test_name=name,
            value=value,
            loinc_match_status="no_match",
            interpretation="unknown",
        )


def _webhooks(make: Planter, tenant: Any) -> None:
    endpoint = make(
        "webhooks.Endpoint",
        tenant=tenant,
        uuid=ENDPOINT,
        url="https://hooks.north.example/",
        secret=encrypt_secret(SECRET),
    )
    about = {"tenant": tenant, "event_type": "labtest.order.updated", "user_uuid": USER}
    event = make("webhooks.Event", **about, client_user_id="mbr_1", body='{"data": 1}')
    delivery = make(
        "webhooks.Delivery",
        **about,
        event=event,
        endpoint=endpoint,
        status="delivered",
        attempts=1,
        finished_at=AT,
    )
    make(
        "webhooks.Attempt",
        tenant=tenant,
        delivery=delivery,
        endpoint=endpoint,
        number=1,
        succeeded=True,
        started_at=AT,
        sent_timestamp=1,
        signature="v1,x",
        total_ms=12.0,
        code=200,
    )
