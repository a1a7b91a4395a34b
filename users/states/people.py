"""Open sets of users, and of what lists of them are narrowed by.

Must not be here: their data (data) or their sources (connections).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices


class LastData(OpenChoices):
    """How long ago a user's data last came, as lists are narrowed by it (ours)."""

    DAY = "day", "In the last day"
    NOT_3_DAYS = "not_3_days", "Not in 3 days"
    NOT_7_DAYS = "not_7_days", "Not in 7 days"
    NOT_30_DAYS = "not_30_days", "Not in 30 days"
    NONE = "none", "None yet"


class Silence(OpenChoices):
    """Since when data that a user's own pace leads to expect has failed to come (ours).

    By source and resource; queries.silence tells how it is reckoned.
    """

    WEEK = "week", "Since this week"
    ANY = "any", "At all"


class ZoneRegion(OpenChoices):
    """Where a fallback time zone lies, as lists are narrowed by it (ours)."""

    EUROPE = "europe", "Europe"
    AMERICAS = "americas", "Americas"
    ASIA_PACIFIC = "asia_pacific", "Asia and Pacific"
    AFRICA = "africa", "Africa"
    NONE = "none", "None given"


class IngestionWindow(OpenChoices):
    """Where today stands to a user's ingestion bounds (ours; contract 2.3)."""

    OPEN = "open", "Open"
    FUTURE = "future", "Starts in the future"
    ENDED = "ended", "Has ended"


class Gender(OpenChoices):
    """Genders labs expect (contract 2.5); any other text is kept as it came."""

    FEMALE = "female", "Female"
    MALE = "male", "Male"
    OTHER = "other", "Other"
    UNKNOWN = "unknown", "Unknown"


class Race(OpenChoices):
    """Contract 2.5."""

    AFRICAN_AMERICAN_OR_BLACK = "african_american_or_black", "African American or Black"
    ASIAN = "asian", "Asian"
    INDIGENOUS = (
        "indigenous_native_american_alaska_native",
        "Indigenous, Native American or Alaska Native",
    )
    OTHER = "other", "Other"
    PACIFIC_ISLANDER = (
        "pacific_islander_or_hawaiian",
        "Pacific Islander or Hawaiian",
    )
    WHITE = "white_caucasian", "White or Caucasian"


class Ethnicity(OpenChoices):
    """Contract 2.5."""

    HISPANIC = "hispanic", "Hispanic"
    NON_HISPANIC = "non_hispanic", "Not Hispanic"
    ASHKENAZI_JEWISH = "ashkenazi_jewish", "Ashkenazi Jewish"
    OTHER = "other", "Other"


class SexualOrientation(OpenChoices):
    """Contract 2.5."""

    LESBIAN_GAY = "lesbian_gay_or_homosexual", "Lesbian, gay or homosexual"
    HETEROSEXUAL = "heterosexual_or_straight", "Heterosexual or straight"
    BISEXUAL = "bisexual", "Bisexual"
    DONT_KNOW = "dont_know", "Don't know"
    OTHER = "other", "Other"


class GenderIdentity(OpenChoices):
    """Contract 2.5."""

    MALE = "male", "Male"
    FEMALE = "female", "Female"
    FEMALE_TO_MALE = (
        "female_to_male_ftm_transgender_male_trans_man",
        "Transgender man",
    )
    MALE_TO_FEMALE = (
        "male_to_female_mtf_transgender_female_trans_woman",
        "Transgender woman",
    )
    GENDERQUEER = "genderqueer", "Genderqueer"
    OTHER = "other", "Other"
