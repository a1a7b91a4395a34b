from __future__ import annotations

import pytest

from portal.lib.storage.address import AddressInvalid, BucketAddress, parse_storage_url
from portal.ops import checks


def test_an_address_says_where_and_who_and_shows_no_secret():
    found = parse_storage_url(
        "s3://AKIA%2B:se%2Fcret%40@files.example:9000/team-files/assay/one"
        "?region=eu-central-1&timeout=2.5"
    )

    assert found == BucketAddress(
        bucket="team-files",
        prefix="assay/one/",
        endpoint="https://files.example:9000",
        region="eu-central-1",
        timeout_s=2.5,
        key="AKIA+",
        secret="se/cret@",
    )
    assert (found.is_clear, found.is_here) == (False, False)
    assert str(found) == "team-files at https://files.example:9000"
    assert "cret" not in repr(found)
    assert "AKIA" not in repr(found)


def test_what_is_left_out_is_the_provider_of_the_machines_role():
    found = parse_storage_url("s3:///team-files")

    assert (found.endpoint, found.key, found.secret) == (None, None, None)
    assert (found.prefix, found.region, found.timeout_s) == ("", "us-east-1", 10)
    assert str(found) == "team-files at Amazon S3"
    beside = parse_storage_url("s3+http://key:secret@[::1]:9000/team-files/")
    assert beside.endpoint == "http://[::1]:9000"
    assert (beside.is_clear, beside.is_here) == (True, True)


@pytest.mark.parametrize(
    "url",
    [
        "https://key:secret@files.example/team-files",
        "s3://key:secret@files.example",
        "s3://key:secret@files.example/Team_Files",
        "s3://key@files.example/team-files",
        "s3://key:secret@files.example:port/team-files",
        "s3://key:secret@[files.example/team-files",
        "s3://key:secret@files.example/team-files?regoin=eu-central-1",
        "s3://key:secret@files.example/team-files?timeout=0",
        "s3://key:secret@files.example/team-files?region",
    ],
)
def test_what_can_not_be_read_is_refused_at_the_start_without_a_secret(url, settings):
    with pytest.raises(AddressInvalid):
        parse_storage_url(url)
    settings.STORAGE_URL = url

    (found,) = checks.check_storage_url()

    assert found.id == "portal.E013"
    assert "secret@" not in found.msg + found.hint.partition("?")[2]


def test_a_bucket_needs_its_library(settings, monkeypatch):
    settings.STORAGE_URL = "s3:///team-files"
    assert checks.check_storage_url() == []

    monkeypatch.setattr(checks, "find_spec", lambda name: None)

    assert [found.id for found in checks.check_storage_url()] == ["portal.E014"]
    settings.STORAGE_URL = ""
    assert checks.check_storage_url() == []
