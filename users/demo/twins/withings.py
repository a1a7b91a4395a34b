"""The twin of Withings: sign-in page, signed tokens, limits, measures and nights.

After its public reference, as of users.gateways.withings. It holds one person; what it
is asked and what it refused is kept for tests.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from users.demo.twins.pushes import Push, PushSender

if TYPE_CHECKING:
    from collections.abc import Callable

_CODE_SECONDS = 30
_NONCE_SECONDS = 30 * 60
_ACCESS_SECONDS = 3 * 3600
_OLD_REFRESH_SECONDS = 8 * 3600
_URL_MAX_LENGTH = 255


@dataclass
class Tokens:
    """The tokens of one consent; `old_refresh` works until the new access is used."""

    access: str
    refresh: str
    expires_at: float
    old_refresh: str = ""
    old_until: float = 0.0


@dataclass
class WithingsTwin:
    """One person's account, and an application that may read it.

    `clock` tells seconds since 1970. `faults` are answered first, one a call: a status
    of Withings, or minus one of HTTP. `log` holds (service, action, status).
    """

    client_id: str = "twin-id"
    client_secret: str = "twin-secret"  # noqa: S105 - of no real application
    user_id: int = 363
    clock: Callable[[], float] = time.time
    calls_a_minute: int = 120
    page_size: int = 100
    measures: list[dict[str, Any]] = field(default_factory=list)
    nights: list[dict[str, Any]] = field(default_factory=list)
    # Parts of nights, days and workouts, as they are answered.
    stages: list[dict[str, Any]] = field(default_factory=list)
    activities: list[dict[str, Any]] = field(default_factory=list)
    workouts: list[dict[str, Any]] = field(default_factory=list)
    time_zone: str = "Europe/Paris"
    faults: deque[int] = field(default_factory=deque)
    log: list[tuple[str, str, int]] = field(default_factory=list)
    tokens: Tokens | None = None
    trades: int = 0
    replays: int = 0
    is_revoked: bool = False
    sender: PushSender = field(default_factory=PushSender)
    # Pairs of a category and an address.
    subscriptions: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin without codes, nonces and calls."""
        self.url = ""
        self.lock = threading.RLock()
        self._codes: dict[str, tuple[float, str]] = {}
        self._nonces: dict[str, float] = {}
        self._calls: deque[float] = deque()
        self._added = 0

    def issue_code(self, redirect_uri: str) -> str:
        """Return a code, as after somebody allowed it."""
        code = secrets.token_hex(8)
        self._codes[code] = (self.clock() + _CODE_SECONDS, redirect_uri)
        return code

    def add_measures(
        self, at: int, values: dict[int, tuple[int, int]], **more: Any
    ) -> int:
        """Add measures, by type a value and a power of ten; return the group's ID."""
        group_id = 1000 + self._added
        self._added += 1
        device = "d7bf1b3c"
        self.measures.append(
            {
                "grpid": group_id,
                "attrib": 0,
                "category": 1,
                "date": at,
                "created": at + 60,
                "modified": at + 60,
                "deviceid": device,
                "hash_deviceid": device,
                "model": "Body+",
                "modelid": 5,
                "comment": None,
                "measures": [
                    {"type": kind, "value": value, "unit": unit}
                    for kind, (value, unit) in values.items()
                ],
                **more,
            }
        )
        return group_id

    def edit_measures(self, group_id: int, values: dict[int, tuple[int, int]]) -> None:
        """Change the measures of a group, as its user does in the app."""
        (group,) = (each for each in self.measures if each["grpid"] == group_id)
        group["modified"] = int(self.clock())
        group["measures"] = [
            {"type": kind, "value": value, "unit": unit}
            for kind, (value, unit) in values.items()
        ]

    def delete_measures(self, group_id: int) -> None:
        """Remove a group of measures; lists leave it out from then on."""
        self.measures = [each for each in self.measures if each["grpid"] != group_id]

    def add_night(self, start: int, end: int, day: str, **data: int | float) -> None:
        """Add a night of a mat."""
        device = "a1c04e55"
        self.nights.append(
            {
                "id": 5000 + len(self.nights),
                "timezone": self.time_zone,
                "model": 32,
                "model_id": 63,
                "hash_deviceid": device,
                "startdate": start,
                "enddate": end,
                "date": day,
                "created": end,
                "modified": end,
                "completed": True,
                "data": data,
            }
        )

    def answer(self, path: str, form: dict[str, str], bearer: str) -> tuple[int, Any]:
        """Return the status (minus one of HTTP) and body of a call."""
        action = form.get("action", "")
        with self.lock:
            status, body = self._answer(path, action, form, bearer)
            self.log.append((path, action, status))
        return status, body

    def _answer(
        self, path: str, action: str, form: dict[str, str], bearer: str
    ) -> tuple[int, Any]:
        if self.faults:
            return self.faults.popleft(), {}
        now = self.clock()
        while self._calls and self._calls[0] <= now - 60:
            self._calls.popleft()
        if len(self._calls) >= self.calls_a_minute:
            return 601, {}
        self._calls.append(now)
        match path, action:
            case "v2/signature", "getnonce":
                return self._give_nonce(form, now)
            case "v2/oauth2", "requesttoken":
                return self._trade(form, now)
            case "v2/oauth2", "revoke":
                return self._revoke(form, now)
        if not self._is_allowed(bearer, now):
            return 401, {}
        match path, action:
            case "measure", "getmeas":
                return self._list_measures(form)
            case "v2/sleep", "getsummary":
                return self._list_days("series", self.nights, form)
            case "v2/sleep", "get":
                return self._list_stages(form)
            case "v2/measure", "getactivity":
                return self._list_days("activities", self.activities, form)
            case "v2/measure", "getworkouts":
                return self._list_days("series", self.workouts, form)
            case "notify", _:
                return self._subscribe(action, form)
        return 2554, {}

    def announce(self, category: int, first: int, last: int) -> None:
        """Queue a push about a period for the addresses of a category."""
        said = {
            "userid": self.user_id,
            "appli": category,
            "startdate": first,
            "enddate": last,
        }
        for known, url in self.subscriptions:
            if known == category:
                self.sender.waiting.append(Push(url, urlencode(said).encode()))

    def _subscribe(self, action: str, form: dict[str, str]) -> tuple[int, Any]:
        if action == "list":
            profiles = [
                {"appli": category, "callbackurl": url, "comment": ""}
                for category, url in self.subscriptions
            ]
            return 0, {"profiles": profiles}
        url, category = form.get("callbackurl", ""), int(form.get("appli", 0))
        if action == "revoke":
            self.subscriptions = [
                each for each in self.subscriptions if each != (category, url)
            ]
            return 0, {}
        if action != "subscribe":
            return 2554, {}
        if len(url) > _URL_MAX_LENGTH or not self.sender.check(url):
            return 293, {}
        self.subscriptions.append((category, url))
        return 0, {}

    def _is_signed(self, form: dict[str, str], salt: str) -> bool:
        said = f"{form.get('action')},{self.client_id},{salt}"
        key = self.client_secret.encode()
        wanted = hmac.new(key, said.encode(), hashlib.sha256).hexdigest()
        return form.get("client_id") == self.client_id and hmac.compare_digest(
            wanted, form.get("signature", "")
        )

    def _give_nonce(self, form: dict[str, str], now: float) -> tuple[int, Any]:
        if not self._is_signed(form, form.get("timestamp", "")):
            return 401, {}
        nonce = secrets.token_hex(8)
        self._nonces[nonce] = now + _NONCE_SECONDS
        return 0, {"nonce": nonce}

    def _takes_nonce(self, form: dict[str, str], now: float) -> bool:
        """Return whether a call has a signature over a nonce that was never used."""
        until = self._nonces.pop(form.get("nonce", ""), 0.0)
        return until >= now and self._is_signed(form, form["nonce"])

    def _trade(self, form: dict[str, str], now: float) -> tuple[int, Any]:
        if not self._takes_nonce(form, now):
            return 503, {}
        old = self.tokens
        if form.get("grant_type") == "authorization_code":
            until, redirect_uri = self._codes.pop(form.get("code", ""), (0.0, ""))
            if until < now or form.get("redirect_uri") != redirect_uri:
                return 503, {}
            self.is_revoked = False
            kept = ""
        else:
            kept = form.get("refresh_token", "")
            if old is None or self.is_revoked:
                return 401, {}
            if kept != old.refresh:
                if kept != old.old_refresh or old.old_until < now:
                    return 401, {}
                self.replays += 1
        self.trades += 1
        self.tokens = Tokens(
            access=f"access-{self.trades}-{secrets.token_hex(4)}",
            refresh=f"refresh-{self.trades}-{secrets.token_hex(4)}",
            expires_at=now + _ACCESS_SECONDS,
            old_refresh=kept,
            old_until=now + _OLD_REFRESH_SECONDS,
        )
        return 0, {
            "userid": str(self.user_id),
            "access_token": self.tokens.access,
            "refresh_token": self.tokens.refresh,
            "scope": "user.metrics,user.activity",
            "expires_in": _ACCESS_SECONDS,
            "token_type": "Bearer",
        }

    def _revoke(self, form: dict[str, str], now: float) -> tuple[int, Any]:
        if not self._takes_nonce(form, now) or form.get("userid") != str(self.user_id):
            return 503, {}
        self.is_revoked, self.tokens = True, None
        return 0, {}

    def _is_allowed(self, bearer: str, now: float) -> bool:
        kept = self.tokens
        if kept is None or bearer != kept.access or kept.expires_at < now:
            return False
        kept.old_until = 0.0  # the new access token is used
        return True

    def _list_measures(self, form: dict[str, str]) -> tuple[int, Any]:
        first, last = int(form.get("startdate", 0)), int(form.get("enddate", 2**40))
        kinds = {int(each) for each in form.get("meastypes", "").split(",") if each}
        found = [
            {
                **each,
                "measures": [
                    one for one in each["measures"] if not kinds or one["type"] in kinds
                ],
            }
            for each in sorted(self.measures, key=lambda each: -each["date"])
            if first <= each["date"] <= last
            and each["modified"] >= int(form.get("lastupdate", 0))
        ]
        return self._page(
            "measuregrps", [each for each in found if each["measures"]], form
        )

    def _list_days(
        self, key: str, documents: list[dict[str, Any]], form: dict[str, str]
    ) -> tuple[int, Any]:
        first = form.get("startdateymd", "")
        last = form.get("enddateymd", "9999")
        found = [each for each in documents if first <= each["date"] <= last]
        return self._page(key, found, form)

    def _list_stages(self, form: dict[str, str]) -> tuple[int, Any]:
        first = int(form["startdate"])
        last = min(int(form["enddate"]), first + 24 * 3600)
        found = [
            each
            for each in self.stages
            if each["startdate"] < last and each["enddate"] > first
        ]
        return 0, {"series": found, "model": 32}

    def _page(
        self, key: str, found: list[dict[str, Any]], form: dict[str, str]
    ) -> tuple[int, Any]:
        at = int(form.get("offset", 0))
        ends = at + self.page_size
        more = ends < len(found)
        return 0, {
            "updatetime": int(self.clock()),
            "timezone": self.time_zone,
            key: found[at:ends],
            "more": more,
            "offset": ends if more else 0,
        }
