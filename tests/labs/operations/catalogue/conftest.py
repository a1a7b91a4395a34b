"""A lab's catalogue as files, for tests of updates."""

from __future__ import annotations

import pytest

from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
)
from tests.factories.accounts import ACTOR

FILES = {
    "labs": """slug,name,first_line_address,city,zipcode,collection_methods,sample_types
north,North Lab,1 Sample Street,Page,86040,walk_in_test|testkit,serum
""",
    "questions": """id,key,code,value,type,required,answers
7,fast,fasting,Fasted?,choice,false,Y=Yes|N=No
""",
    "markers": """lab,name,provider_id,type,sample_type,questions,price,retired
north,Glucose,G1,biomarker,serum,fast,4.00,
north,Lipids,L1,panel,serum,,12.50,
""",
    "expected_results": """\
lab,marker,name,provider_id,result_type,unit,low,high,loinc_code
north,G1,Glucose,G1,numeric,mg/dL,70,99,2345-7
north,L1,HDL,HDL,numeric,mg/dL,40,,
""",
}


def with_changes(*changes, files=FILES):
    """The files by name, with (name, old, new) replaced in them."""
    files = dict(files)
    for name, old, new in changes:
        assert old in files[name]
        files[name] = files[name].replace(old, new)
    return {name: text.encode() for name, text in files.items()}


def update(*changes, is_complete=False, files=FILES, owner=None):
    """Check and apply the files with changes."""
    draft = check_catalogue_update(
        contents=with_changes(*changes, files=files),
        actor=ACTOR,
        is_complete=is_complete,
        owner=owner,
    )
    return apply_catalogue_update(update_id=draft.pk, actor=ACTOR, owner=owner)


@pytest.fixture
def north(db):
    """The lab of the files, stored."""
    from labs.models import Lab

    update()
    return Lab.objects.get(slug="north")
