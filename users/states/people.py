"""Enumerations of users' demographics and list filters."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class LastData(OpenChoices):
    """List filter: how long ago a user's data last arrived (ours)."""

    DAY = "day", gettext_lazy("In the last day")
    NOT_3_DAYS = "not_3_days", gettext_lazy("Not in 3 days")
    NOT_7_DAYS = "not_7_days", gettext_lazy("Not in 7 days")
    NOT_30_DAYS = "not_30_days", gettext_lazy("Not in 30 days")
    NONE = "none", gettext_lazy("Never")


class Silence(OpenChoices):
    """List filter: since when expected data of a user is overdue (ours).

    By source and resource; queries.silence tells how it is reckoned.
    """

    WEEK = "week", gettext_lazy("Since this week")
    ANY = "any", gettext_lazy("Any time")


class ZoneRegion(OpenChoices):
    """List filter: region of the fallback time zone (ours)."""

    EUROPE = "europe", gettext_lazy("Europe")
    AMERICAS = "americas", gettext_lazy("Americas")
    ASIA_PACIFIC = "asia_pacific", gettext_lazy("Asia and Pacific")
    AFRICA = "africa", gettext_lazy("Africa")
    NONE = "none", gettext_lazy("Not set")


class IngestionWindow(OpenChoices):
    """List filter: today relative to the ingestion window (ours; contract 2.3)."""

    OPEN = "open", gettext_lazy("Open")
    FUTURE = "future", gettext_lazy("Starts in the future")
    ENDED = "ended", gettext_lazy("Ended")


class Gender(OpenChoices):
    """Genders that labs expect (contract 2.5); other texts are stored unchanged."""

    FEMALE = "female", gettext_lazy("Female")
    MALE = "male", gettext_lazy("Male")
    OTHER = "other", gettext_lazy("Other")
    UNKNOWN = "unknown", gettext_lazy("Unknown")


class Race(OpenChoices):
    """Contract 2.5."""

    AFRICAN_AMERICAN_OR_BLACK = (
        "african_american_or_black",
        gettext_lazy("African American or Black"),
    )
    ASIAN = "asian", gettext_lazy("Asian")
    INDIGENOUS = (
        "indigenous_native_american_alaska_native",
        gettext_lazy("Indigenous, Native American or Alaska Native"),
    )
    OTHER = "other", gettext_lazy("Other")
    PACIFIC_ISLANDER = (
        "pacific_islander_or_hawaiian",
        gettext_lazy("Pacific Islander or Hawaiian"),
    )
    WHITE = "white_caucasian", gettext_lazy("White or Caucasian")


class Ethnicity(OpenChoices):
    """Contract 2.5."""

    HISPANIC = "hispanic", gettext_lazy("Hispanic")
    NON_HISPANIC = "non_hispanic", gettext_lazy("Not Hispanic")
    ASHKENAZI_JEWISH = "ashkenazi_jewish", gettext_lazy("Ashkenazi Jewish")
    OTHER = "other", gettext_lazy("Other")


class SexualOrientation(OpenChoices):
    """Contract 2.5."""

    LESBIAN_GAY = (
        "lesbian_gay_or_homosexual",
        gettext_lazy("Lesbian, gay or homosexual"),
    )
    HETEROSEXUAL = "heterosexual_or_straight", gettext_lazy("Heterosexual or straight")
    BISEXUAL = "bisexual", gettext_lazy("Bisexual")
    DONT_KNOW = "dont_know", gettext_lazy("Don't know")
    OTHER = "other", gettext_lazy("Other")


class GenderIdentity(OpenChoices):
    """Contract 2.5."""

    MALE = "male", gettext_lazy("Male")
    FEMALE = "female", gettext_lazy("Female")
    FEMALE_TO_MALE = (
        "female_to_male_ftm_transgender_male_trans_man",
        gettext_lazy("Transgender man"),
    )
    MALE_TO_FEMALE = (
        "male_to_female_mtf_transgender_female_trans_woman",
        gettext_lazy("Transgender woman"),
    )
    GENDERQUEER = "genderqueer", gettext_lazy("Genderqueer")
    OTHER = "other", gettext_lazy("Other")


class NumberedKind(OpenChoices):
    """What a number of a user's record leads to (ours)."""

    ORDER = "order", gettext_lazy("Order")
    REPORT = "report", gettext_lazy("Report")
