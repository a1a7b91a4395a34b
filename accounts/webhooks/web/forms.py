"""Parse the webhook forms: endpoints, the log's filters, replays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.models.endpoint import DESCRIPTION_MAX_LENGTH
from accounts.webhooks.operations.endpoints import RATE_LIMIT_MAX
from accounts.webhooks.operations.replay import (
    DEFAULT_RATE,
    DEFAULT_STOP,
    RATES,
    STOPS,
)
from accounts.webhooks.queries.log import Answer, LogFilters, Outcome, Tries
from portal.lib.translation import gettext_lazy
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.http import QueryDict

ALL_EVENTS, SOME_EVENTS = "all", "some"
# Stands for a header's value that is withheld, and keeps it when it comes back.
WITHHELD = "••••••••"
PERIODS = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7)}
PERIOD_LABELS = {
    "1h": gettext_lazy("Last hour"),
    "24h": gettext_lazy("Last 24 hours"),
    "7d": gettext_lazy("Last 7 days"),
}
_SELECTED_MAX = 100
_DEEP = ("daily.data.", "historical.data.")


@dataclass(frozen=True, slots=True)
class TypeGroup:
    """Event types that begin alike; `prefix` chooses them all, also those to come."""

    prefix: str
    types: tuple[tuple[str, str], ...]

    @property
    def field_id(self) -> str:
        """The id of its box."""
        return "all-" + self.prefix.replace(".", "-").strip("-")


def group_event_types() -> list[TypeGroup]:
    """Return the event types in groups, each type with when it is sent."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, kind in sorted(load_event_types().items()):
        deep = next((prefix for prefix in _DEEP if name.startswith(prefix)), "")
        prefix = deep or name.partition(".")[0] + "."
        groups.setdefault(prefix, []).append((name, kind.when))
    return [TypeGroup(prefix, tuple(types)) for prefix, types in groups.items()]


class EndpointForm(forms.Form):
    """An endpoint: where to, what, and how fast."""

    url = forms.CharField(
        max_length=4000,
        error_messages={"required": gettext_lazy("Enter the URL of the receiver.")},
    )
    description = forms.CharField(required=False, max_length=DESCRIPTION_MAX_LENGTH)
    events = forms.ChoiceField(
        choices=[
            (ALL_EVENTS, gettext_lazy("All events")),
            (SOME_EVENTS, gettext_lazy("Selected events")),
        ],
        widget=forms.RadioSelect,
        initial=ALL_EVENTS,
    )
    rate_limit = forms.IntegerField(
        required=False, min_value=1, max_value=RATE_LIMIT_MAX
    )

    def __init__(self, *given: Any, chosen: Iterable[str] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        data: Any = self.data
        self.chosen = data.getlist("filter_types") if self.is_bound else list(chosen)

    @property
    def others(self) -> list[str]:
        """Prefixes that are chosen and that no group offers."""
        offered = set(load_event_types()) | {
            group.prefix for group in group_event_types()
        }
        return [each for each in self.chosen if each not in offered]

    def clean(self) -> dict[str, Any]:
        """Return what operations take."""
        given: dict[str, Any] = super().clean() or {}
        is_some = given.pop("events", "") == SOME_EVENTS
        if is_some and not self.chosen:
            self.add_error("events", _("Choose at least one event."))
        given["filter_types"] = self.chosen if is_some else None
        return given


class HeadersForm(forms.Form):
    """Headers that are sent with every message, one on a line."""

    headers = forms.CharField(
        required=False, max_length=100_000, strip=False, widget=forms.Textarea
    )

    def read(self, present: Mapping[str, str]) -> dict[str, str]:
        """Names and values; a value that is withheld stays as it is at present.

        Raises ValueError for a line that is no header, or a name that comes twice.
        """
        found: dict[str, str] = {}
        for line in self.cleaned_data["headers"].splitlines():
            if not line.strip():
                continue
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not colon or name in found:
                raise ValueError(name)
            found[name] = present.get(name, "") if value == WITHHELD else value
        return found


class LogForm(forms.Form):
    """The log's query string; a value that means nothing counts as not given."""

    outcome = forms.ChoiceField(required=False, choices=Outcome.offered)
    type = forms.CharField(required=False, max_length=100)
    user = forms.CharField(required=False, max_length=255)
    answer = forms.ChoiceField(required=False, choices=Answer.offered)
    tries = forms.ChoiceField(required=False, choices=Tries.offered)
    period = forms.ChoiceField(required=False, choices=list(PERIOD_LABELS.items()))
    since = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])
    until = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M"])
    replay = forms.UUIDField(required=False)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What the log is asked for, every part known to be good.

    `since` and `until` are in the reader's time zone; `messages` are those ticked.
    """

    outcome: str = ""
    type: str = ""
    user: str = ""
    answer: str = ""
    tries: str = ""
    period: str = ""
    since: datetime | None = None
    until: datetime | None = None
    replay: UUID | None = None
    messages: tuple[str, ...] = ()

    @classmethod
    def read(cls, query: QueryDict) -> LogQuery:
        """Read a query string."""
        form = LogForm(query)
        form.is_valid()
        fields = {name: value for name, value in form.cleaned_data.items() if value}
        if "user" in fields and "\0" in fields["user"]:
            del fields["user"]
        ticked = [each for each in query.getlist("message") if "\0" not in each]
        return cls(**fields, messages=tuple(ticked[:_SELECTED_MAX]))

    @property
    def filters(self) -> LogFilters:
        """The same, as the query takes it."""
        since = self.since
        if self.period and not (self.since or self.until):
            since = timezone.now() - PERIODS[self.period]
        return LogFilters(
            outcome=self.outcome,
            event_type=self.type,
            user=self.user.strip(),
            answer=self.answer,
            tries=self.tries,
            since=since,
            until=self.until,
            replay=self.replay,
            message_ids=self.messages,
        )

    @property
    def query_items(self) -> list[tuple[str, object]]:
        """The query string, all but what is ticked."""
        query_items: list[tuple[str, object]] = [
            ("outcome", self.outcome),
            ("type", self.type),
            ("user", self.user),
            ("answer", self.answer),
            ("tries", self.tries),
            ("period", self.period),
            ("since", _minute(self.since)),
            ("until", _minute(self.until)),
            ("replay", self.replay),
        ]
        return [(name, value) for name, value in query_items if value]

    @property
    def query_items_without_user(self) -> list[tuple[str, object]]:
        """What another user keeps of the query string."""
        return [(name, value) for name, value in self.query_items if name != "user"]

    @property
    def query_items_without_time(self) -> list[tuple[str, object]]:
        """What another time keeps of the query string."""
        time = {"period", "since", "until"}
        return [(name, value) for name, value in self.query_items if name not in time]

    @property
    def since_input(self) -> str:
        """The first minute as an input takes it."""
        return _minute(self.since)

    @property
    def until_input(self) -> str:
        """The minute after the last, as an input takes it."""
        return _minute(self.until)

    @property
    def time_words(self) -> str:
        """The time of the log in words, or empty."""
        if self.since and self.until:
            return _("%(since)s to %(until)s") % {
                "since": _words(self.since),
                "until": _words(self.until),
            }
        if self.since:
            return _("since %(time)s") % {"time": _words(self.since)}
        if self.until:
            return _("until %(time)s") % {"time": _words(self.until)}
        return str(PERIOD_LABELS.get(self.period, ""))

    @property
    def outcome_words(self) -> str:
        """The outcome in words, or empty."""
        known = Outcome.known(self.outcome)
        return str(known.label) if known else ""

    @property
    def answer_words(self) -> str:
        """The answer in words, or empty."""
        known = Answer.known(self.answer)
        return str(known.label) if known else ""

    @property
    def tries_words(self) -> str:
        """The attempts in words, or empty."""
        known = Tries.known(self.tries)
        return str(known.label) if known else ""

    @property
    def summary(self) -> str:
        """What the filters choose, as a list of words."""
        if self.messages:
            return _("The selected deliveries")
        filters = {
            _("Outcome"): self.outcome_words or _("All"),
            _("Event"): self.type,
            _("User"): self.user,
            _("Response"): self.answer_words,
            _("Attempts"): self.tries_words,
            _("Time"): self.time_words,
        }
        return " · ".join(
            f"{name}: {value}" for name, value in filters.items() if value
        )


class ReplayForm(forms.Form):
    """How a replay is to go."""

    rate = forms.TypedChoiceField(
        coerce=int,
        choices=lambda: [
            (rate, _("%(rate)d per second") % {"rate": rate}) for rate in RATES
        ],
        initial=DEFAULT_RATE,
    )
    stop_after = forms.TypedChoiceField(
        coerce=int,
        choices=lambda: [
            (
                number,
                _("%(number)d failures in a row") % {"number": number}
                if number
                else _("Never"),
            )
            for number in STOPS
        ],
        initial=DEFAULT_STOP,
    )
    probe_first = forms.BooleanField(required=False, initial=True)


def _minute(moment: datetime | None) -> str:
    if moment is None:
        return ""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}"


def _words(moment: datetime) -> str:
    return write_date(timezone.localtime(moment), "j M H:i")
