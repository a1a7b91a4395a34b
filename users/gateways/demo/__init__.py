"""Demo data of sources, reproducible by person and day.

A person has one body: what two of their sources tell of a night or a workout differs no
more than two devices do, and what one source tells agrees with itself. Pure functions
of a person, a day and a moment.
"""

from users.gateways.demo.cycles import make_demo_menstrual_cycles
from users.gateways.demo.nights import make_demo_sleep_cycles
from users.gateways.demo.people import make_demo_person
from users.gateways.demo.sources import MADE_UP, DemoData, make_demo_source_data
from users.gateways.demo.syncs import make_demo_sync_times

__all__ = [
    "MADE_UP",
    "DemoData",
    "make_demo_menstrual_cycles",
    "make_demo_person",
    "make_demo_sleep_cycles",
    "make_demo_source_data",
    "make_demo_sync_times",
]
