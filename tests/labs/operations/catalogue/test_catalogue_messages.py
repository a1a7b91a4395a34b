"""A lab's tests as MFN^M08 and MFN^M10, written and read."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command

from labs.gateways.hl7.messages import parse_hl7_message, split_hl7_messages
from labs.gateways.hl7.profile.fields import CATALOGUE_PROFILE
from labs.models import CatalogueUpdate, Lab, Marker
from labs.operations.catalogue.catalogue_export import (
    export_lab_catalogue,
    export_lab_catalogue_messages,
)
from labs.operations.catalogue.import_catalogue import (
    CatalogueInvalid,
    apply_catalogue_update,
    check_catalogue_update,
)
from tests.factories.accounts import ACTOR
from tests.labs.gateways.hl7.conformance import require_valid_hl7
from tests.labs.operations.catalogue.conftest import FILES, update

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 1, 15, 30, tzinfo=UTC)
RICH = {
    **FILES,
    "markers": """\
lab,name,provider_id,type,sample_type,container,stability,questions,price,fasting,common_tat_days
north,Glucose & co,G1,biomarker,serum,serum_gel,refrigerated=72,fast,4.00,true,2
north,Sodium,N1,biomarker,urine,,,,5.00,,
north,Basics,P1,panel,serum,serum_gel,,,12.50,,3
""",
    "expected_results": """\
lab,marker,name,provider_id,result_type,unit,low,high,loinc_code,loinc_name
north,G1,Glucose,RG,numeric,mg/dL,70,99.5,2345-7,Glucose [Mass/volume] in Serum
north,N1,Sodium,N1,numeric,mmol/L,,145,,
north,P1,Glucose,RG,numeric,mg/dL,70,99,2345-7,Glucose [Mass/volume] in Serum
north,P1,Sodium,N1,numeric,mmol/L,,,,
""",
}


@pytest.fixture
def own(alice_tenant):
    update(files=RICH, owner=alice_tenant)
    return Lab.objects.in_catalogue_of(alice_tenant)


@pytest.fixture
def written(own):
    return export_lab_catalogue_messages(labs=own, at=AT)


def check(content, tenant, **options):
    return check_catalogue_update(
        contents={"messages": content}, actor=ACTOR, owner=tenant, **options
    )


def changed(written, old, new):
    assert old in written
    return written.replace(old, new)


def test_what_we_write_is_valid_for_a_strict_reader(own, written, tmp_path):
    messages = split_hl7_messages(written)

    assert [raw.split(b"|")[8] for raw in messages] == [
        b"MFN^M08^MFN_M08",
        b"MFN^M10^MFN_M10",
    ]
    for raw in messages:
        require_valid_hl7(raw, tmp_path)
    assert export_lab_catalogue_messages(labs=own, at=AT) == written
    text = written.decode()
    assert (
        "OM1|1|G1^Glucose \\T\\ co^L|NM|Y|north^North Lab^L||RG^Glucose^L^2345-7^"
        in text
    )
    assert "OM2|1|mg/dL^mg/dL^L||||70&99.5" in text
    assert "OM4|1||serum_gel|||SER^Serum^HL70487" in text


def test_what_we_write_is_read_without_a_difference(written, alice_tenant):
    assert check(written, alice_tenant, is_complete=True).changes == []


def test_a_message_changes_what_it_says_and_leaves_the_rest(own, written, alice_tenant):
    before = export_lab_catalogue(labs=own)
    content = changed(written, b"Glucose \\T\\ co", b"Blood sugar")
    content = changed(content, b"70&99.5", b"65&105")
    content = changed(content, b"|2880|", b"|5760|")

    draft = check(content, alice_tenant)
    apply_catalogue_update(update_id=draft.pk, actor=ACTOR, owner=alice_tenant)

    after = export_lab_catalogue(labs=own)
    assert after["questions"] == before["questions"]
    assert after["markers"] == before["markers"].replace(
        b"Glucose & co", b"Blood sugar"
    ).replace(b"true,true,false,2,", b"true,true,false,4,")
    assert after["expected_results"] == before["expected_results"].replace(
        b"70,99.5", b"65,105"
    )


def test_a_new_test_is_added_and_one_is_retired(own, alice_tenant):
    head = (
        "MSH|^~\\&|LIS|north|||20260301||MFN^M08^MFN_M08|1|P|2.5.1\r"
        "MFI|OMA^^HL70175||UPD|||NE\r"
    )
    content = head + (
        "MFE|MDC|1||N1^Sodium^L|CE\r"
        "MFE|MAD|2||K1^Potassium^L|CE\r"
        "OM1|2|K1^Potassium^L^2823-3^Potassium^LN|NM|Y|north|||Potassium||||Y||||||A"
        "|||||1441\r"
        "OM2|2|mmol/L||||3.5&5.1\r"
        "OM4|2||serum_gel|||SER\r"
    )

    draft = check(content.encode(), alice_tenant)
    apply_catalogue_update(update_id=draft.pk, actor=ACTOR, owner=alice_tenant)

    assert [(one["kind"], one["key"]) for one in draft.changes] == [
        ("retired", "north N1"),
        ("added", "north K1"),
        ("added", "north K1 K1"),
    ]
    new = Marker.objects.get(lab__in=own, provider_id="K1")
    assert (new.common_tat_days, new.container, new.unit) == (2, "serum_gel", "mmol/L")
    result = new.expected_results.get()
    assert (result.loinc_code, result.low, result.high) == ("2823-3", 3.5, 5.1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            b"MFI|OMA^",
            b"MFI|CDM^",
            "catalog.hl7, line 2, column MFI-1: the master file of M08 is OMA (table"
            " 0175).",
        ),
        (
            b"MFN^M08^MFN_M08",
            b"MFN^M02^MFN_M02",
            "catalog.hl7, line 1, column MSH-9: the message is neither MFN^M08 nor"
            " MFN^M10.",
        ),
        (
            b"ASSAY|north|",
            b"ASSAY|south|",
            "catalog.hl7, line 1, column MSH-4: no lab of the catalog has this slug.",
        ),
        (
            b"MFE|MUP|2|",
            b"MFE|XXX|2|",
            "catalog.hl7, line 7, column MFE-1: the event is not of table 0180.",
        ),
        (
            b"serum_gel|||SER^",
            b"serum_gel|||MUD^",
            "catalog.hl7, line 6, column OM4-6: the sample is unknown (table 0487).",
        ),
        (
            b"mg/dL^mg/dL^L",
            b"bogus^bogus^L",
            "catalog.hl7, line 4, column OM2-2: the unit is unknown.",
        ),
        (
            b"^2345-7^Glucose [Mass/volume] in Serum^LN|",
            b"^2345-1^Glucose^LN|",
            "catalog.hl7, line 4, column OM1-7: the LOINC code or its check digit is"
            " wrong.",
        ),
        (
            b"MFE|MUP|2||N1^Sodium^L|CE\rOM1|2|N1^",
            b"MFE|MUP|2||G1^Sodium^L|CE\rOM1|2|G1^",
            "catalog.hl7, line 8, column OM1-2: provider_id is listed twice.",
        ),
        (
            b"OM5|1|N1^Sodium^L",
            b"OM5|1|ZZ^Zorblin^L",
            "catalog.hl7, line 15, column OM5-2: send the result ZZ by MFN^M08 first.",
        ),
    ],
)
def test_a_fault_has_its_segment_and_field_and_nothing_changes(
    written, alice_tenant, old, new, said
):
    with pytest.raises(CatalogueInvalid) as refused:
        check(written.replace(old, new, 1), alice_tenant)

    assert said in [str(fault) for fault in refused.value.faults]
    assert CatalogueUpdate.objects.filter(number=None).count() == 0


@pytest.mark.parametrize("content", [b"", b"no message", b"MSH|^~\\&", b"MSH|\r\xff"])
def test_what_is_no_message_is_refused(alice_tenant, content):
    with pytest.raises(CatalogueInvalid):
        check(content, alice_tenant)


def test_messages_and_files_are_not_mixed(written, alice_tenant):
    with pytest.raises(CatalogueInvalid) as refused:
        check_catalogue_update(
            contents={"messages": written, "labs": b"slug\n"},
            actor=ACTOR,
            owner=alice_tenant,
        )
    assert refused.value.message == (
        "catalog.hl7: send HL7 messages and CSV files apart."
    )


def test_the_profile_lists_each_field_that_is_sent(written):
    sent = {
        (segment.name, number)
        for raw in split_hl7_messages(written)
        for segment in parse_hl7_message(raw).segments
        for number in range(3 if segment.name == "MSH" else 1, 60)
        if segment.raw(number)
    }

    assert sent <= {(one.segment, one.number) for one in CATALOGUE_PROFILE}


def test_the_command_imports_and_exports_messages(tmp_path):
    update(files=RICH)
    out = tmp_path / "out"

    call_command("export_lab_catalogue", out, hl7=True, stdout=StringIO())
    said = StringIO()
    call_command("import_lab_catalogue", out / "catalog.hl7", stdout=said)

    assert [one.name for one in out.iterdir()] == ["catalog.hl7"]
    assert said.getvalue() == "Nothing was imported.\n"
