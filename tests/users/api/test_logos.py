from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from django.test import Client

from users.api.logos import build_logo_initials, pick_logo_color
from users.wearables.providers import KNOWN


@pytest.mark.parametrize("slug", sorted(KNOWN))
@pytest.mark.django_db
def test_each_source_has_a_monogram_of_our_own(slug):
    reply = Client().get(f"/logos/{slug}.svg")

    drawn = ElementTree.fromstring(reply.content)  # noqa: S314 - drawn by us
    text = drawn.find("{http://www.w3.org/2000/svg}text").text
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "image/svg+xml"
    assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Set-Cookie" not in reply.headers
    assert "Vary" not in reply.headers
    assert re.fullmatch(r"\w{1,2}", text)
    assert b" style=" not in reply.content
    assert b"<s" not in reply.content.replace(b"<svg", b"")


def test_letters_are_of_the_name():
    assert build_logo_initials("Oura") == "Ou"
    assert build_logo_initials("8Sleep") == "8S"
    assert build_logo_initials("Abbott LibreView") == "AL"
    assert build_logo_initials("Freestyle Libre (Bluetooth)") == "FL"


def test_a_source_keeps_its_colour():
    assert pick_logo_color("oura") == pick_logo_color("oura")
    assert len({pick_logo_color(slug) for slug in KNOWN}) > 4


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_white_letters_can_be_read_on_every_ground():
    for slug in KNOWN:
        assert 1.05 / (luminance(pick_logo_color(slug)) + 0.05) >= 4.5


@pytest.mark.parametrize("path", ["/logos/nobody.svg", "/logos/..svg", "/logos/.svg"])
@pytest.mark.django_db
def test_there_is_no_logo_of_an_unknown_source(path):
    assert Client().get(path).status_code == 404


@pytest.mark.django_db
def test_a_logo_is_only_read():
    assert Client().post("/logos/oura.svg").status_code == 405
    assert Client().head("/logos/oura.svg").status_code == 200
