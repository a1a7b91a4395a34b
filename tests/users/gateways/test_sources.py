from __future__ import annotations

from users.gateways.sources import SOURCE_GATEWAYS


def test_each_cloud_source_says_where_its_terms_are_and_when_they_were_checked():
    terms = {slug: each.terms for slug, each in SOURCE_GATEWAYS.items()}

    assert set(terms) == {
        "dexcom_v3",
        "garmin",
        "google_health",
        "oura",
        "polar",
        "strava",
        "suunto",
        "whoop_v2",
        "withings",
    }
    for each in terms.values():
        assert each.url.startswith("https://")
        assert each.effective_on is None or each.effective_on < each.checked_on
