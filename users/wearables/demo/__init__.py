"""Demo data of sources, reproducible by person and day.

A person has one body: what two of their sources tell of a night or a workout differs no
more than two devices do, and what one source tells agrees with itself. Pure functions
of a person, a day and a moment.
"""

from users.wearables.demo.cycles import make_cycles
from users.wearables.demo.nights import make_nights
from users.wearables.demo.people import make_person
from users.wearables.demo.sources import MADE_UP, DemoData, make_source
from users.wearables.demo.syncs import make_syncs

__all__ = [
    "MADE_UP",
    "DemoData",
    "make_cycles",
    "make_nights",
    "make_person",
    "make_source",
    "make_syncs",
]
