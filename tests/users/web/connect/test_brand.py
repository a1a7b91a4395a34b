from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.queries.branding import find_team_branding
from portal.ui.colors import color_contrast_ratio
from tests.factories.accounts import make_tenant
from users.web.connect.brand import build_brand_stylesheet

# Of static/css/tokens.css: what words in the brand's colour may lie on.
GROUNDS = (("#ffffff", "#f1f3ee", "#e7eae3"), ("#141a19", "#0c1110", "#1b2322"))


def rgb(color):
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


@pytest.mark.parametrize("color", ["ffffff", "000000", "ffd400", "0f6170", "777777"])
def test_words_can_be_read_whatever_the_colour(color):
    looks = re.findall(r"\{ (--accent: [^}]*) \}", build_brand_stylesheet(color))

    assert len(looks) == 2
    for look, grounds in zip(looks, GROUNDS, strict=True):
        fields = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", look))
        assert fields["accent"] == f"#{color}"
        assert (
            color_contrast_ratio(rgb(fields["accent"]), rgb(fields["on-accent"])) >= 4.5
        )
        assert (
            color_contrast_ratio(rgb(fields["accent-2"]), rgb(fields["on-accent"]))
            >= 4.5
        )
        for ground in grounds:
            assert color_contrast_ratio(rgb(fields["accent-ink"]), rgb(ground)) >= 4.5


def test_a_sheet_is_public_and_kept_for_long():
    reply = Client().get("/connect/colors/0f6170.css")

    assert reply.status_code == 200
    assert reply["Content-Type"] == "text/css"
    assert "immutable" in reply["Cache-Control"]


@pytest.mark.parametrize("color", ["0F6170", "red", "0f617", "0f6170;}", "é" * 6])
def test_what_is_no_colour_has_no_sheet(color):
    assert Client().get(f"/connect/colors/{color}.css").status_code == 404


@pytest.mark.django_db
def test_a_team_without_a_brand_has_its_name():
    tenant = make_tenant()
    tenant.brand_information = {"company_name": "", "brand_color": "url(x)"}

    brand = find_team_branding(tenant)

    assert brand.company == tenant.team.name
    assert (brand.color, brand.logo_url, brand.support_email) == ("", "", "")
