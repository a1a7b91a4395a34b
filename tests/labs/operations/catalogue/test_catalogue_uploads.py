from __future__ import annotations

import io
import zipfile

import pytest

from labs.operations.catalogue.catalogue_uploads import (
    pack_catalogue_files,
    read_catalogue_upload,
)
from portal.lib.errors import DomainError

FILES = {"labs": b"slug\n", "markers": b"lab\n"}


def zipped(entries):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_a_packed_catalogue_has_the_same_bytes_and_is_read_back():
    packed = pack_catalogue_files(FILES)

    assert pack_catalogue_files(dict(reversed(FILES.items()))) == packed
    assert read_catalogue_upload([("catalog.zip", packed)]) == FILES


def test_files_are_known_by_their_names_in_any_folder():
    archive = zipped(
        {
            "lab/": b"",
            "lab/Labs.CSV": b"slug\n",
            "__MACOSX/lab/._labs.csv": b"\0",
            "lab/.DS_Store": b"\0",
        }
    )

    found = read_catalogue_upload([("a.zip", archive), ("markers.csv", b"lab\n")])

    assert found == FILES


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "prices.csv",
            b"",
            "prices.csv: the file is none of labs.csv, questions.csv, markers.csv,"
            " expected_results.csv, service_centers.csv.",
        ),
        ("a.zip", b"PK no", "a.zip: the zip file is damaged or encrypted."),
        (
            "a.zip",
            zipped({"labs.csv": b"slug\n", "b/labs.csv": b"slug\n"}),
            "b/labs.csv: the file is there twice.",
        ),
        (
            "a.zip",
            zipped({f"{n}.csv": b"" for n in range(51)}),
            "a.zip: the zip file has too many files.",
        ),
        (
            "a.zip",
            zipped({"labs.csv": b" " * (20 * 1024 * 1024 + 1)}),
            "labs.csv: the file is larger than 20 MB.",
        ),
        (
            "labs.csv",
            b" " * (20 * 1024 * 1024 + 1),
            "labs.csv: the file is larger than 20 MB.",
        ),
    ],
    ids=["name", "damaged", "twice", "many", "bomb", "large"],
)
def test_other_files_are_refused_by_name(name, content, said):
    with pytest.raises(DomainError) as refused:
        read_catalogue_upload([(name, content)])

    assert (refused.value.code, refused.value.message) == (
        "lab_catalogue_invalid",
        said,
    )
