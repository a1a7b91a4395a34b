"""Forms of vendors' exports, a module each: how a file looks and is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.states.imports import ImportFormat
from users.wearables.formats import fit, gpx, tcx
from users.wearables.formats.vendors import (
    clarity,
    fitbit,
    garmin,
    google_fit,
    health_connect,
    libreview,
    nightscout,
    oura,
    samsung,
    strava,
    whoop,
    withings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from users.wearables.formats.rows import Row
    from users.wearables.formats.uploads.forms import Form, Reading
    from users.wearables.formats.uploads.heads import Head

# A form that asks for more columns stands before one that asks for fewer.
_MODULES: tuple[ModuleType, ...] = (
    libreview,
    clarity,
    whoop,
    strava,
    garmin,
    samsung,
    oura,
    google_fit,
    fitbit,
    nightscout,
    withings,
    health_connect,
    fit,
    gpx,
    tcx,
)
FORMS: tuple[Form, ...] = tuple(form for module in _MODULES for form in module.FORMS)
# The source that the rows of a format are of; empty: each file or the sender tells it.
PROVIDERS: dict[ImportFormat, str] = {
    module.FORMS[0].format: module.PROVIDER for module in _MODULES
}
PREPARERS: tuple[Callable[[Head, Reading], None], ...] = (google_fit.prepare,)
FINISHERS: tuple[Callable[[Reading], Iterator[Row]], ...] = (
    whoop.finish,
    samsung.finish,
    withings.finish,
    fitbit.finish,
)
RECORDINGS = frozenset({ImportFormat.FIT, ImportFormat.GPX, ImportFormat.TCX})


def find_form(head: Head) -> Form | None:
    """Return the form of a file by its head; None if no vendor has it."""
    return next((form for form in FORMS if form.matches(head)), None)
