"""Every setting, in one file; behaviour differs by environment variable alone.

Each variable is read once, here, and listed in .env.example. Limits that the
specification states are constants beside the code that enforces them, not settings.
"""

from __future__ import annotations

import os
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy
from whitenoise.compress import Compressor

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
# Empty is as good as missing: .env.example, filled in where it must be, is enough.
env.ENVIRON = {name: text for name, text in os.environ.items() if text}

# Base

DEBUG: bool = env.bool("DEBUG", default=False)
# Empty: the bundled PostgreSQL, which is for trying out and for tests.
DATABASE_URL: str = env.str("DATABASE_URL", default="")
# The same database as another role: workers and commands, and the tables' owner. Empty:
# that of DATABASE_URL. The last one makes roles (portal/lib/database/roles.py).
DATABASE_WORK_URL: str = env.str("DATABASE_WORK_URL", default="")
DATABASE_OWNER_URL: str = env.str("DATABASE_OWNER_URL", default="")
DATABASE_ADMIN_URL: str = env.str("DATABASE_ADMIN_URL", default="")
# Everything the server writes outside the database: uploads, mail files, keys.
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var")))


# A process without a database of its own is a trial: it takes the demo's key, so that
# a command beside a running demo reads and writes what the demo encrypted.
def _build_trial_secret_key() -> str:
    if DATABASE_URL:
        return secrets.token_urlsafe(50) if DEBUG else ""
    try:
        key = (VAR_DIR / "demo-secret-key").read_text().strip()
    except OSError:
        key = ""
    return key or secrets.token_urlsafe(50)


SECRET_KEY: str = env.str("SECRET_KEY", default="") or _build_trial_secret_key()
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])
# What secrets in the database are encrypted with, newest first; any long random text.
# Empty: SECRET_KEY and its fallbacks.
ENCRYPTION_KEYS: list[str] = env.list("ENCRYPTION_KEYS", default=[])
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
# Where people and API clients reach this server, no slash at the end.
PUBLIC_URL: str = env.str("PUBLIC_URL", default="http://127.0.0.1:8000").rstrip("/")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
# An email address or a page, for /.well-known/security.txt.
SECURITY_CONTACT: str = env.str("SECURITY_CONTACT", default="").strip()
# Where the ends of the audit's chains are written down each hour; copy it elsewhere.
AUDIT_ANCHORS = Path(
    env.str("AUDIT_ANCHORS", default=str(VAR_DIR / "audit-anchors.ndjson"))
)

# What one web process takes at once: requests at work (a thread and a database
# connection each), open connections of one address, and of all together.
WEB_THREADS: int = env.int("WEB_THREADS", default=4)
# Seconds of work a second of one team while others call; 0: no bound.
WEB_TEAM_TIME: float = env.float("WEB_TEAM_TIME", default=0.5)
WEB_CONNECTIONS_PER_ADDRESS: int = env.int("WEB_CONNECTIONS_PER_ADDRESS", default=100)
WEB_CONNECTIONS: int = env.int("WEB_CONNECTIONS", default=1000)

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.Member"
# Every text that people see is in the English catalogue; what patients and members
# see, in all.
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("es", "Español"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("pt-br", "Português"),
]
# Those whose catalogue is whole: members' pages and mails are in one of them.
MEMBER_LANGUAGES = ["en", "de", "es", "fr", "pt-br"]
LOCALE_PATHS = [BASE_DIR / "locale"]
# Numbers and form fields as machines read them, whatever the language of the page.
FORMAT_MODULE_PATH = "portal.formats"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# Our own apps, from the lowest up; `portal` is both floor and roof.
APPS = (
    *("portal", "accounts", "accounts.webhooks", "users", "labs", "reports"),
    "exchange",
)
INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "portal.apps.OperatorsAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "procrastinate.contrib.django",
    *APPS,
]

# The dashboard's middleware steps aside for API paths: see portal.http.middleware.
API_PREFIXES = (
    *("/v1/", "/v2/", "/v3/", "/lab_report/", "/checkout/", "/aggregate/", "/fhir/"),
    *("/healthz", "/readyz", "/metrics"),
)
# Pages of people without an account: in the language of their browser.
PATIENT_PREFIXES = ("/connect/", "/shl/", "/requisition/")
# For developers and operators, who read English as the API and the logs are.
ENGLISH_PREFIXES = (
    *("/docs/", "/api/", "/admin/", "/courier/", "/push/", "/phone", "/texts/"),
)
MIDDLEWARE = [
    "portal.lib.web.proxies.TrustedProxyMiddleware",
    "portal.lib.web.request_ids.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "portal.http.headers.SecurityHeadersMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "portal.http.https.HttpsCallMiddleware",
    "portal.http.middleware.WhiteNoiseMiddleware",
    "portal.http.middleware.CSPMiddleware",
    "portal.http.middleware.BrowserLanguageMiddleware",
    "portal.http.middleware.SessionMiddleware",
    "portal.http.middleware.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "portal.http.middleware.AuthenticationMiddleware",
    "portal.http.middleware.MemberLanguageMiddleware",
    "portal.http.middleware.MessageMiddleware",
    "portal.http.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # allauth insists on this spelling
    "portal.http.middleware.TenantMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "django.templatetags.i18n",
                "portal.templatetags.query",
                "portal.templatetags.translated",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.home.shell.team_shell_context",
            ],
        },
    },
]

# Database

# Where the bundled server keeps its data; empty: a folder of its own choice.
EMBEDDED_POSTGRES_DIR: str = env.str("EMBEDDED_POSTGRES_DIR", default="")
# Seconds a connection may stay open; empty: for the life of the process.
CONN_MAX_AGE: int | None = env.int("CONN_MAX_AGE", default=None)
_DATABASE: dict[str, Any] = (
    environ.Env.db_url_config(DATABASE_URL)
    if DATABASE_URL
    else {"ENGINE": "portal.lib.embedded", "NAME": "assay"}
)
_OWN_OPTIONS = _DATABASE.get("OPTIONS", {}).get("options", "")
DATABASES = {
    "default": {
        **_DATABASE,
        "CONN_MAX_AGE": CONN_MAX_AGE,
        # How soon a silent host is given up (libpq's options; the last in
        # milliseconds). What DATABASE_URL says of them counts.
        "OPTIONS": {
            "connect_timeout": 5,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            **_DATABASE.get("OPTIONS", {}),
            # PostgreSQL compiles statements that it takes for dear, which then takes
            # longer than they run; what DATABASE_URL says comes last, and counts.
            "options": f"-c jit=off {_OWN_OPTIONS}".strip(),
        },
    }
}
# What one statement of a request may take, wait for a lock, and leave a transaction
# idle; seconds in the environment, 0: no bound. Workers have none.
STATEMENT_TIMEOUT = timedelta(seconds=env.int("STATEMENT_TIMEOUT", default=30))
LOCK_TIMEOUT = timedelta(seconds=env.int("LOCK_TIMEOUT", default=10))
IDLE_TRANSACTION_TIMEOUT = timedelta(minutes=5)
# Rate limits count in a cache that every process shares.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "portal_cache",
        # Beyond these, some are thrown away: nobody may push out what was counted.
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
}

# Static files and uploads

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(VAR_DIR / "static")))
# True once `manage.py collectstatic` has run: hashed names, compressed files.
STATICFILES_COLLECTED: bool = env.bool(
    "STATICFILES_COLLECTED", default=bool(DATABASE_URL) and not DEBUG
)
WHITENOISE_USE_FINDERS = not STATICFILES_COLLECTED
WHITENOISE_AUTOREFRESH = not STATICFILES_COLLECTED
# Nothing asks for a file by its plain name; maps are for who reads the library's code.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
# Uploaded reports and imports; never below a folder that is served.
UPLOADS_DIR = Path(env.str("UPLOADS_DIR", default=str(VAR_DIR / "uploads")))
# Keeps them in a bucket instead, which other hosts reach without a mounted folder:
# s3://key:secret@host/bucket?region=eu-central-1 (portal/lib/storage/address.py).
STORAGE_URL: str = env.str("STORAGE_URL", default="")
# Where closed months are exported as Parquet files for analysts: a folder, or a bucket
# as above (docs/guides/lake.md). Both empty: nothing is.
LAKE_DIR: str = env.str("LAKE_DIR", default="")
LAKE_URL: str = env.str("LAKE_URL", default="")
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "portal.lib.storage.scratch.ScratchUploadHandler",
]
# Looks at uploads before they are kept: clamd://host:3310 or clamd:///path/of/socket.
# Empty: none does.
UPLOAD_SCANNER: str = env.str("UPLOAD_SCANNER", default="")
# Days that orders, results and completed reports are kept at least, whatever a team
# says: the longest that law asks of the installation's teams.
HEALTH_RECORD_LEAST_DAYS: int = env.int("HEALTH_RECORD_LEAST_DAYS", default=3653)
# What `manage.py import_loinc` made of the official LOINC table; may be missing.
LOINC_DIR = Path(env.str("LOINC_DIR", default=str(VAR_DIR / "loinc")))
STORAGES = {
    "default": {
        "BACKEND": "portal.lib.storage.bucket.BucketStorage",
        "OPTIONS": {"url": STORAGE_URL},
    }
    if STORAGE_URL
    else {
        "BACKEND": "portal.lib.storage.folder.FolderStorage",
        "OPTIONS": {
            "location": UPLOADS_DIR,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {
        "BACKEND": "portal.lib.storage.static.CollectedStaticFiles"
        if STATICFILES_COLLECTED
        else "portal.lib.storage.static.PlainStaticFiles",
    },
}

# Mail

# For example smtp+tls://name:password@mail.example:587; empty: files under var/mail.
EMAIL_URL: str = env.str("EMAIL_URL", default="")
if EMAIL_URL:
    vars().update(environ.Env.email_url_config(EMAIL_URL))
else:
    EMAIL_BACKEND = "portal.lib.secrets.private_files.PrivateFileBackend"
    EMAIL_FILE_PATH = VAR_DIR / "mail"
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", default="assay@localhost")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

# Sign-in

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation"
        ".UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": "accounts.operations.members.password_words.PlaceWordsValidator"},
]
# A password link, from a reset or from `create_team`, works once and this long.
PASSWORD_RESET_TIMEOUT = int(timedelta(days=3).total_seconds())
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.web.sign_in.adapter.MemberAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_REAUTHENTICATION_TIMEOUT = int(timedelta(minutes=15).total_seconds())
ACCOUNT_RATE_LIMITS = {
    "login": "60/m/ip",
    # By account: accounts.operations.sign_in.attempts.
    "login_failed": "10/m/ip",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
    "mail_address": "5/h/user",
    "single_sign_on": "60/m/ip",
}

MFA_ADAPTER = "accounts.web.sign_in.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
# Passkeys need https, or a browser on the server's own http://localhost.
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "authenticate": "accounts.web.sign_in.second_factor.CodeForm",
    "reauthenticate": "accounts.web.sign_in.second_factor.ConfirmingCodeForm",
    "authenticate_webauthn": "accounts.web.sign_in.passkeys.PasskeyAfterPasswordForm",
    "login_webauthn": "accounts.web.sign_in.passkeys.PasskeySignInForm",
    "reauthenticate_webauthn": "accounts.web.sign_in.passkeys.ConfirmingPasskeyForm",
}
# A touch alone proves nobody, also after a password and to confirm.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_RATE_LIMITS = {"webauthn_login": "60/m/ip"}
MFA_TOTP_ISSUER = "Assay"
MFA_RECOVERY_CODES_SHOW_ONCE = True

# Hosts that a team's own sign-in may lie at although they are private, by http too.
SINGLE_SIGN_ON_LOCAL_HOSTS: list[str] = [
    host.lower() for host in env.list("SINGLE_SIGN_ON_LOCAL_HOSTS", default=[])
]

SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True

# Labs

# Which gateway production orders go through; a sandbox always has the sandbox lab.
LAB_GATEWAY: str = env.str("LAB_GATEWAY", default="")
# Where laboratories that speak HL7 and we exchange files, shared by all machines.
HL7_DIR = Path(env.str("HL7_DIR", default=str(VAR_DIR / "hl7")))
# Where `manage.py mllp` listens, and the ports it gives to connections.
MLLP_HOST: str = env.str("MLLP_HOST", default="127.0.0.1")
MLLP_PORTS: str = env.str("MLLP_PORTS", default="2575-2594")
MLLP_CERTIFICATE: str = env.str("MLLP_CERTIFICATE", default="")
MLLP_KEY: str = env.str("MLLP_KEY", default="")
# Networks in which messages of health data may go without TLS.
MLLP_UNENCRYPTED_NETWORKS: list[str] = env.list("MLLP_UNENCRYPTED_NETWORKS", default=[])
# Private networks in which labs may be called; public addresses always may.
LAB_NETWORKS: list[str] = env.list("LAB_NETWORKS", default=[])
# DNS servers that have the keys of signed mails, `address` or `address#port`; empty:
# those of the system.
MAIL_DNS_SERVERS: list[str] = env.list("MAIL_DNS_SERVERS", default=[])

# Sources

# Our application at Oura; without both, Oura is not offered.
OURA_CLIENT_ID: str = env.str("OURA_CLIENT_ID", default="")
OURA_CLIENT_SECRET: str = env.str("OURA_CLIENT_SECRET", default="")
# Where it was registered: developer (developer.ouraring.com) or cloud, the older one.
OURA_PORTAL: str = env.str("OURA_PORTAL", default="developer")
# Where all of Oura is instead, to try the portal against a twin.
OURA_URL: str = env.str("OURA_URL", default="")
# Our application at Withings; without both, Withings is not offered.
WITHINGS_CLIENT_ID: str = env.str("WITHINGS_CLIENT_ID", default="")
WITHINGS_CLIENT_SECRET: str = env.str("WITHINGS_CLIENT_SECRET", default="")
# Where Withings answers and its users sign in; another pair for its US medical cloud.
WITHINGS_API_URL: str = env.str(
    "WITHINGS_API_URL", default="https://wbsapi.withings.net"
)
WITHINGS_SIGN_IN_URL: str = env.str(
    "WITHINGS_SIGN_IN_URL", default="https://account.withings.com"
)
# Our application at WHOOP; without both, WHOOP is not offered.
WHOOP_CLIENT_ID: str = env.str("WHOOP_CLIENT_ID", default="")
WHOOP_CLIENT_SECRET: str = env.str("WHOOP_CLIENT_SECRET", default="")
WHOOP_API_URL: str = env.str("WHOOP_API_URL", default="https://api.prod.whoop.com")
# Our application at Polar AccessLink; without both, Polar is not offered.
POLAR_CLIENT_ID: str = env.str("POLAR_CLIENT_ID", default="")
POLAR_CLIENT_SECRET: str = env.str("POLAR_CLIENT_SECRET", default="")
POLAR_API_URL: str = env.str("POLAR_API_URL", default="https://www.polaraccesslink.com")
POLAR_SIGN_IN_URL: str = env.str("POLAR_SIGN_IN_URL", default="https://flow.polar.com")
POLAR_TOKEN_URL: str = env.str("POLAR_TOKEN_URL", default="https://polarremote.com")
# Our application at Dexcom; without both, Dexcom is not offered. Each region has an
# address of its own.
DEXCOM_CLIENT_ID: str = env.str("DEXCOM_CLIENT_ID", default="")
DEXCOM_CLIENT_SECRET: str = env.str("DEXCOM_CLIENT_SECRET", default="")
DEXCOM_API_URL: str = env.str("DEXCOM_API_URL", default="https://api.dexcom.com")
# Our application at Strava; without both, Strava is not offered.
STRAVA_CLIENT_ID: str = env.str("STRAVA_CLIENT_ID", default="")
STRAVA_CLIENT_SECRET: str = env.str("STRAVA_CLIENT_SECRET", default="")
STRAVA_API_URL: str = env.str("STRAVA_API_URL", default="https://www.strava.com")
# Our application at Garmin; without both, Garmin is not offered.
GARMIN_CLIENT_ID: str = env.str("GARMIN_CLIENT_ID", default="")
GARMIN_CLIENT_SECRET: str = env.str("GARMIN_CLIENT_SECRET", default="")
GARMIN_API_URL: str = env.str("GARMIN_API_URL", default="https://apis.garmin.com")
GARMIN_SIGN_IN_URL: str = env.str(
    "GARMIN_SIGN_IN_URL", default="https://connect.garmin.com"
)
GARMIN_TOKEN_URL: str = env.str("GARMIN_TOKEN_URL", default="https://diauth.garmin.com")
# Our application at Google; without both, Google Health is not offered.
GOOGLE_HEALTH_CLIENT_ID: str = env.str("GOOGLE_HEALTH_CLIENT_ID", default="")
GOOGLE_HEALTH_CLIENT_SECRET: str = env.str("GOOGLE_HEALTH_CLIENT_SECRET", default="")
GOOGLE_HEALTH_API_URL: str = env.str(
    "GOOGLE_HEALTH_API_URL", default="https://health.googleapis.com"
)
GOOGLE_HEALTH_SIGN_IN_URL: str = env.str(
    "GOOGLE_HEALTH_SIGN_IN_URL", default="https://accounts.google.com"
)
GOOGLE_HEALTH_TOKEN_URL: str = env.str(
    "GOOGLE_HEALTH_TOKEN_URL", default="https://oauth2.googleapis.com"
)

# Our application at Suunto; without ID, secret and key, Suunto is not offered, without
# the notification secret its webhooks are refused.
SUUNTO_CLIENT_ID: str = env.str("SUUNTO_CLIENT_ID", default="")
SUUNTO_CLIENT_SECRET: str = env.str("SUUNTO_CLIENT_SECRET", default="")
SUUNTO_SUBSCRIPTION_KEY: str = env.str("SUUNTO_SUBSCRIPTION_KEY", default="")
SUUNTO_NOTIFICATION_SECRET: str = env.str("SUUNTO_NOTIFICATION_SECRET", default="")
SUUNTO_API_URL: str = env.str("SUUNTO_API_URL", default="https://cloudapi.suunto.com")
SUUNTO_TOKEN_URL: str = env.str(
    "SUUNTO_TOKEN_URL", default="https://cloudapi-oauth.suunto.com"
)

# The API key of the one assistant that `manage.py mcp` serves by stdio.
ASSISTANT_KEY: str = env.str("ASSISTANT_KEY", default="")

# Hosts that webhooks may be posted to although they are private, by http too.
WEBHOOK_LOCAL_HOSTS: list[str] = [
    host.lower() for host in env.list("WEBHOOK_LOCAL_HOSTS", default=[])
]

# Operators' admin

UNFOLD = {
    "SITE_TITLE": "Assay operators",
    "SITE_HEADER": "Assay operators",
    "SITE_URL": "/",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda _request: static("img/mark.svg"),
        }
    ],
    # Petrol, as in static/css/tokens.css.
    "COLORS": {
        "primary": {
            "50": "#e1f0f2",
            "100": "#cfe6ea",
            "200": "#a9d3d9",
            "300": "#7fc0ca",
            "400": "#4fa9b7",
            "500": "#2391a3",
            "600": "#0b6373",
            "700": "#084e5b",
            "800": "#063d47",
            "900": "#052f37",
            "950": "#031f25",
        }
    },
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": True,
        "navigation": [
            {
                "title": gettext_lazy("Customers"),
                "items": [
                    {
                        "title": title,
                        "icon": icon,
                        "link": reverse_lazy(f"admin:{page}"),
                    }
                    for title, icon, page in (
                        (
                            gettext_lazy("Organizations"),
                            "domain",
                            "accounts_organisation_changelist",
                        ),
                        (gettext_lazy("Teams"), "groups", "accounts_team_changelist"),
                        (
                            gettext_lazy("Members"),
                            "person",
                            "accounts_member_changelist",
                        ),
                    )
                ],
            },
            {
                "title": gettext_lazy("Operations"),
                "items": [
                    {
                        "title": title,
                        "icon": icon,
                        "link": reverse_lazy(f"admin:{page}"),
                    }
                    for title, icon, page in (
                        (gettext_lazy("Server health"), "stethoscope", "doctor"),
                        (gettext_lazy("Providers"), "sensors", "providers"),
                        (gettext_lazy("Tenant isolation"), "shield", "isolation"),
                        (gettext_lazy("Lake"), "water", "lake"),
                        (gettext_lazy("Queue and budgets"), "balance", "queue"),
                        (
                            gettext_lazy("Parsing jobs"),
                            "lab_panel",
                            "reports_parsingjob_changelist",
                        ),
                        (gettext_lazy("Events"), "outbox", "webhooks_event_changelist"),
                    )
                ],
            },
        ],
    },
}

# Transport and content policy

HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# Of this host alone, over https: no other host below the domain can plant one.
SESSION_COOKIE_NAME = f"{'__Host-' if HTTPS else ''}sessionid"
CSRF_COOKIE_NAME = f"{'__Host-' if HTTPS else ''}csrftoken"
SECURE_SSL_REDIRECT: bool = env.bool("SECURE_SSL_REDIRECT", default=HTTPS)
# A redirect to https leads to the public address, whatever host was called.
SECURE_SSL_HOST = urlsplit(PUBLIC_URL).netloc
# Calls of the API are refused instead (portal.http.https), and probes are answered.
SECURE_REDIRECT_EXEMPT = [f"^{prefix.lstrip('/')}" for prefix in API_PREFIXES]
# Seconds; browsers then refuse plain HTTP for this long.
SECURE_HSTS_SECONDS: int = env.int(
    "SECURE_HSTS_SECONDS",
    default=int(timedelta(days=365).total_seconds()) if HTTPS else 0,
)
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
# Bytes of a form without its files; of a whole body too, where a page says no other.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
# True behind a proxy that sets X-Forwarded-Proto and drops what clients sent of it.
TRUST_FORWARDED_PROTO: bool = env.bool("TRUST_FORWARDED_PROTO", default=False)
if TRUST_FORWARDED_PROTO:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Proxies whose X-Forwarded-For is believed: addresses or networks in CIDR form.
TRUSTED_PROXIES: list[str] = env.list("TRUSTED_PROXIES", default=[])
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "object-src": ["'none'"],
    }
}

# Samples

# Whether closed days are packed, which takes a fiftieth of the space
# (docs/explanation/packed-days.md). What is packed is read and written either way.
PACK_SAMPLES: bool = env.bool("PACK_SAMPLES", default=True)
# Hours without new data before a user's past days are packed; after a week they are.
PACK_SAMPLES_QUIET_HOURS: int = env.int("PACK_SAMPLES_QUIET_HOURS", default=48)

# Days that what phones sent is kept after it is stored, encrypted, with the records of
# types that we have no resource for; 0: not at all.
PHONE_UPLOADS_KEPT_DAYS: int = env.int("PHONE_UPLOADS_KEPT_DAYS", default=0)

# API

# Calls a minute of one key that has no limit of its own; 0: as many as it makes.
API_CALLS_PER_KEY: int = env.int("API_CALLS_PER_KEY", default=0)
# Calls a minute from one address (of IPv6: one /64), with any key or none; 0: as above.
API_CALLS_PER_ADDRESS: int = env.int("API_CALLS_PER_ADDRESS", default=0)
# Days that the log of calls is kept; 0: none is written.
API_CALL_LOG_DAYS: int = env.int("API_CALL_LOG_DAYS", default=30)
# The most calls that the log keeps of one environment; the oldest go first.
API_CALL_LOG_ROWS: int = env.int("API_CALL_LOG_ROWS", default=10_000_000)
# Whether a key may also come in x-vital-api-key, as older published clients send it.
API_FORMER_KEY_HEADER: bool = env.bool("API_FORMER_KEY_HEADER", default=True)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api.auth.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.auth.KeyPermission"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.api.throttling.CallThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["portal.lib.api.json.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.lib.api.json.OrjsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "portal.lib.api.json.AlwaysJson",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "portal.lib.api.errors.handle_api_exception",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay API",
    "VERSION": "1",
    "DESCRIPTION": "Health data and lab testing. Enumerations may gain values.",
    "OAS_VERSION": "3.1.1",
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "portal.api_docs.operations.complete_document",
    ],
    "PREPROCESSING_HOOKS": ["portal.lib.api.schema.keep_only_api_paths_in_schema"],
    "SCHEMA_PATH_PREFIX": r"/(v1/org|v2|v3|lab_report/v1)",
}

# Jobs

# Loaded with the first job that is enqueued or run instead of with Django: jobs import
# most of the code.
PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""
PROCRASTINATE_IMPORT_PATHS = [f"{name}.jobs" for name in APPS]

# Logs: no bodies, no query strings, no health data, no texts of exceptions.

# line, for people, or json, an object a line.
LOG_FORMAT: str = env.str("LOG_FORMAT", default="line")
# Statements that take longer are logged, without their values; 0: none.
SLOW_QUERY_MS: int = env.int("SLOW_QUERY_MS", default=0)
# Who asks /metrics sends this as a bearer token; empty: there is no /metrics.
METRICS_TOKEN: str = env.str("METRICS_TOKEN", default="")
# Where faults are reported, without a person's data; empty: nowhere.
SENTRY_DSN: str = env.str("SENTRY_DSN", default="")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "portal.lib.logs.LineFormatter"},
        "json": {"()": "portal.lib.logs.JsonFormatter"},
    },
    "filters": {
        "routes": {"()": "portal.lib.logs.RouteFilter"},
        "outages": {"()": "portal.lib.logs.OutageFilter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["routes", "outages"],
        },
    },
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "procrastinate": {"level": "WARNING"},
        "pikepdf": {"level": "WARNING"},
        # They name the addresses they call, and what they send.
        "httpx": {"level": "WARNING"},
        "boto3": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        "s3transfer": {"level": "WARNING"},
        "urllib3": {"level": "WARNING"},
        # It names files, which labs name after people.
        "asyncssh": {"level": "WARNING"},
        # Which would log each malformed request of a stranger.
        "uvicorn": {"level": "ERROR"},
    },
}
