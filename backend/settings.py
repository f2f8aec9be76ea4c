"""Settings, all of them from the environment; docs/operations.md holds the table.

The database, Redis and Kafka have no default here on purpose: `manage.py up` and the test
suite start embedded ones and set these variables; anything else configures real ones. A
configured URL is never shadowed.
"""

import os
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlparse

from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from backend.databases import databases
from backend.platform.keys import Keyring, KeyringError
from backend.platform.redis_address import address_of
from backend.platform.redis_libraries import celery_broker, channel_layer_host
from backend.schedule import BEAT_SCHEDULE, TASK_ROUTES, with_expiry
from backend.storage import storage_backend
from billing.kafka_access import kafka_access
from billing.schedule import BEAT_SCHEDULE as BILLING_SCHEDULE
from billing.schedule import TASK_ROUTES as BILLING_ROUTES
from billing.taxes import parse_taxes

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str | None = None) -> str:
    """The variable `name`; ImproperlyConfigured where it has neither value nor default."""
    value = os.environ.get(name) or default
    if value is None:
        raise ImproperlyConfigured(
            f"{name} is not set. Start the product with `make run`, which starts embedded"
            " services and sets it, or point it at your own."
        )
    return value


def env_flag(name: str, default: bool) -> bool:
    return env(name, "1" if default else "0").lower() in {"1", "true", "yes", "on"}


def env_list(name: str, default: str) -> list[str]:
    return [item.strip() for item in env(name, default).split(",") if item.strip()]


# --- Core -----------------------------------------------------------------------------------
VAR_DIR = Path(env("PARLEY_VAR", str(BASE_DIR / "var")))
DEBUG = env_flag("PARLEY_DEBUG", False)
_keys_file = env("PARLEY_KEYS_FILE", "")
try:
    KEYRING = Keyring(
        inline=env("PARLEY_KEYS", ""),
        file=Path(_keys_file) if _keys_file else None,
        secret_key=env("PARLEY_SECRET_KEY", ""),
    )
except (OSError, KeyringError) as error:
    raise ImproperlyConfigured(str(error)) from error
# Of the version that writes now; backend/platform/encryption.py follows a rotation.
SECRET_KEY = KEYRING.django_key(KEYRING.writing())
SECRET_KEY_FALLBACKS = [KEYRING.django_key(version) for version in KEYRING.versions()]
# Every column that `manage.py rotate-keys` moves to a new version.
KEYED_COLUMNS = [
    "backend.accounts.encryption.SEEDS",
    "backend.accounts.encryption.MAILS",
    "backend.platform.sessions.COLUMN",
    "backend.enterprise.secrets.COLUMN",
    "backend.enterprise.service_key.COLUMN",
    "backend.tools.secrets.COLUMN",
    "backend.tools.secrets.CLIENTS",
    "backend.tools.secrets.CONNECTIONS",
    "billing.webhook_secrets.COLUMN",
    "safety.audit.texts.COLUMN",
    "backend.api.request_content.COLUMN",
    "backend.generation.reuse.answers.ANSWERS",
]
PUBLIC_URL = env("PARLEY_PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
# Where the worker reaches our own API; inside a cluster that is a service, not the ingress.
INTERNAL_URL = env("PARLEY_INTERNAL_URL", PUBLIC_URL).rstrip("/")
_public = urlparse(PUBLIC_URL)
HTTPS = _public.scheme == "https"
ALLOWED_HOSTS = env_list("PARLEY_ALLOWED_HOSTS", f"{_public.hostname},localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
# Where set, the admin is under this name only, and nothing else is (backend/api/admin_host.py).
ADMIN_HOST = env("PARLEY_ADMIN_HOST", "").lower()
_page_name, _admin_name = _public.hostname or "", ADMIN_HOST.partition(":")[0]
if ADMIN_HOST:
    ALLOWED_HOSTS.append(_admin_name)
# The domain that passkeys belong to. Without it, the page's, where the admin's host is below that.
PASSKEY_DOMAIN = env(
    "PARLEY_PASSKEY_DOMAIN", _page_name if _admin_name.endswith(f".{_page_name}") else ""
).lower()
if PASSKEY_DOMAIN and not f".{_page_name}".endswith(f".{PASSKEY_DOMAIN}"):
    raise ImproperlyConfigured(
        f"PARLEY_PASSKEY_DOMAIN is {PASSKEY_DOMAIN}; it has to be {_page_name}, the host name of"
        " PARLEY_PUBLIC_URL, or a domain that holds it: browsers refuse any other."
    )
ROOT_URLCONF = "backend.urls"
ASGI_APPLICATION = "backend.asgi.application"

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # the site is ours
    "unfold.contrib.filters",
    "backend.admin.site.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    # Without allauth's own start-up, which wants its middleware and receivers.
    "backend.accounts.allauth_apps.AccountConfig",
    "allauth.mfa",
    "backend.accounts.allauth_apps.UserSessionsConfig",
    "ninja",  # for the files of Swagger UI, which /docs serves from our own origin
    "backend.platform",
    "backend.audit",
    "backend.accounts",
    "backend.enterprise",
    "backend.conversations",
    "backend.tools",
    "backend.generation",
    "backend.rights",
    "backend.api",
    "billing",
    "safety.audit",
]

# Every class here runs natively async (tests/api/test_middleware.py holds it): one sync
# middleware would push each streaming request through the thread-sensitive executor.
MIDDLEWARE = [
    "backend.api.middleware.RequestContextMiddleware",
    "backend.api.middleware.SecurityHeadersMiddleware",
    "backend.api.static_files.StaticFilesMiddleware",
    "backend.api.middleware.AsyncSessionMiddleware",
    "backend.api.middleware.AsyncCsrfViewMiddleware",
    "backend.api.middleware.AsyncAuthenticationMiddleware",
    "backend.api.middleware.AdminOnlyMessageMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "backend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Data -----------------------------------------------------------------------------------
# The server itself, where DATABASE_URL is a pooler (backend/databases.py).
DATABASE_DIRECT_URL = env("DATABASE_DIRECT_URL", "")
DATABASES = databases(
    env("DATABASE_URL"),
    pool=int(env("PARLEY_DB_POOL", "10")),
    direct_url=DATABASE_DIRECT_URL,
    replica_url=env("DATABASE_REPLICA_URL", ""),
)
DATABASE_ROUTERS = ["backend.platform.replica.Router"]
DATABASE_REPLICA_MAX_LAG_S = float(env("DATABASE_REPLICA_MAX_LAG_S", "10"))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# One server, or the master of Sentinels (backend/platform/redis_address.py).
REDIS_URL = env("REDIS_URL")
_REDIS = address_of(REDIS_URL)
if _REDIS.kind == "cluster":
    raise ImproperlyConfigured("REDIS_URL: only STREAM_REDIS_URL may be a cluster")
# Where answers are buffered, which most traffic goes to: may be a cluster.
STREAM_REDIS_URL = env("STREAM_REDIS_URL", REDIS_URL)
# How many slots of a cluster they lie in; each is written and read by itself. All web processes
# have the same number.
_SHARDS = "8" if address_of(STREAM_REDIS_URL).kind == "cluster" else "1"
STREAM_SHARDS = int(env("STREAM_SHARDS", _SHARDS))
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": [REDIS_URL],
        "OPTIONS": {
            "serializer": "backend.platform.cache.JSONSerializer",
            "pool_class": "backend.platform.redis_libraries.CachePool",
        },
        "VERSION": 2,  # of how values are written: releases side by side read their own only
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [
                {
                    **channel_layer_host(_REDIS),
                    "socket_timeout": 5,
                    "socket_connect_timeout": 5,
                    # Its connection is kept for ever: the first use after Redis has restarted
                    # finds it broken, and fails where nothing is tried again.
                    "retry": Retry(ExponentialBackoff(base=0.05, cap=0.5), 3),
                }
            ]
        },
    }
}
KAFKA_BOOTSTRAP_SERVERS = env("KAFKA_BOOTSTRAP_SERVERS")
try:
    KAFKA_ACCESS = kafka_access(os.environ)
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from error
# What /readyz asks besides database and Redis, and reports only: that one of `host:port,…` listens,
# and shows a certificate that is trusted, where it has one.
OPTIONAL_SERVICES = {"event_log": (KAFKA_BOOTSTRAP_SERVERS, KAFKA_ACCESS.tls)}
STORAGES = {
    "default": storage_backend(os.environ.get("STORAGE_URL", ""), directory=VAR_DIR / "files"),
    "staticfiles": {"BACKEND": "backend.api.static_files.StaticFilesStorage"},
}

# --- Accounts -------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "backend.accounts.password_words.OwnWordsValidator"}]
LOGIN_URL = "/login"
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
# A browser takes a cookie of this prefix from this host only, over https, for all paths.
_COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrftoken"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_FAILURE_VIEW = "backend.api.views.csrf_failure"
# allauth holds what belongs to an account (docs/decisions/0035): verified addresses, second
# factors, sessions. Its views are not served.
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
MFA_ADAPTER = "backend.accounts.allauth_adapter.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_TOTP_TOLERANCE = 1
MFA_TOTP_ISSUER = "Parley"
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # a passkey stands for both factors
PASSWORD_RESET_TIMEOUT = 3600
# Identity providers at private addresses and over plain http, which an organization's owner names.
SSO_TO_PRIVATE = env_flag("PARLEY_SSO_TO_PRIVATE", False)
# Tool servers (MCP) at private addresses and over plain http, which an organization names.
TOOLS_TO_PRIVATE = env_flag("PARLEY_TOOLS_TO_PRIVATE", False)
# Where people reach whoever runs this installation: a page names it where they can do no more.
SUPPORT_CONTACT = env("PARLEY_SUPPORT_CONTACT", "")
if SUPPORT_CONTACT and not SUPPORT_CONTACT.startswith(("mailto:", "https://")):
    raise ImproperlyConfigured("PARLEY_SUPPORT_CONTACT is a mailto: or https:// URL.")
# Hosts of which pages are read though their addresses are private: a wiki at home, say.
WEB_PRIVATE_HOSTS = frozenset(env_list("PARLEY_WEB_PRIVATE_HOSTS", ""))
TOOL_TIMEOUT_S = float(env("PARLEY_TOOL_TIMEOUT_S", "30"))  # of one call
SIGNUP_OPEN = env_flag("PARLEY_SIGNUP_OPEN", True)
# Of one user; four times that from one address.
MODERATIONS_PER_MINUTE = int(env("PARLEY_MODERATIONS_PER_MINUTE", "300"))
UPLOADS_PER_MINUTE = int(env("PARLEY_UPLOADS_PER_MINUTE", "60"))
SEARCHES_PER_MINUTE = int(env("PARLEY_SEARCHES_PER_MINUTE", "300"))
SIGNUPS_PER_HOUR = int(env("PARLEY_SIGNUPS_PER_HOUR", "20"))  # from one address
DNS_SERVERS = env_list("PARLEY_DNS_SERVERS", "")  # for verified domains; none: the system's
INVITATIONS_PER_HOUR = int(env("PARLEY_INVITATIONS_PER_HOUR", "100"))  # of one organization

# --- HTTP -----------------------------------------------------------------------------------
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = env_flag("PARLEY_HSTS_SUBDOMAINS", True)
# Networks, or a count of proxies; backend/api/proxies.py drops what others forward.
TRUSTED_PROXIES = env("PARLEY_TRUSTED_PROXIES", "")
# Who may read /readyz and /metrics without the token; loopback always may.
INTERNAL_NETWORKS = env("PARLEY_INTERNAL_NETWORKS", "")
METRICS_TOKEN = env("PARLEY_METRICS_TOKEN", "")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = int(env("PARLEY_MAX_BODY_BYTES", str(4 * 1024 * 1024)))
ATTACHMENT_MAX_BYTES = int(env("PARLEY_MAX_ATTACHMENT_BYTES", str(10 * 1024 * 1024)))
MAX_FILE_BYTES = int(env("PARLEY_MAX_FILE_BYTES", str(512 * 1024 * 1024)))
# Of one process. Bodies in memory take up to ten times as much for the moment of their parsing,
# which one request after the other goes through; uploads lie on disk.
MAX_BODIES_IN_FLIGHT_BYTES = int(env("PARLEY_MAX_BODIES_IN_FLIGHT_BYTES", str(256 << 20)))
MAX_UPLOADS_IN_FLIGHT_BYTES = int(env("PARLEY_MAX_UPLOADS_IN_FLIGHT_BYTES", str(2 << 30)))
# Where Django keeps an upload until it is stored; the system's folder where this is empty.
FILE_UPLOAD_TEMP_DIR = env("PARLEY_UPLOADS_DIR", "") or None
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [
    BASE_DIR / "backend" / "static",
    # The admin's Alpine that evaluates nothing (frontend/admin), in the place of unfold's own.
    ("unfold/js/alpine", BASE_DIR / "backend" / "static" / "app" / "admin"),
]
# Not there before the page is built. A process that began then may collect the files later.
SILENCED_SYSTEM_CHECKS = ["staticfiles.W004"]
SERVESTATIC_MAX_AGE = 3600

# --- Generation -----------------------------------------------------------------------------
POOLS_FILE = Path(env("PARLEY_POOLS", str(BASE_DIR / "infra" / "pools.toml")))
GENERATION_TIMEOUT_S = float(env("PARLEY_GENERATION_TIMEOUT_S", "300"))
GENERATION_LEASE_S = float(env("PARLEY_GENERATION_LEASE_S", "6"))
GENERATION_BUFFER_TTL_S = int(env("PARLEY_GENERATION_BUFFER_TTL_S", "900"))
DISCONNECT_GRACE_S = float(env("PARLEY_DISCONNECT_GRACE_S", "120"))
# What engines ask for, and sign their records in the registry with; none: nobody registers.
ENGINE_API_KEY = env("PARLEY_ENGINE_API_KEY", "")
ENGINE_TLS_REQUIRED = env_flag("PARLEY_ENGINE_TLS", False)  # of engines that register
ENGINE_CA_FILE = env("PARLEY_ENGINE_CA_FILE", "")  # that signs their certificates
# One queue a pool for all web processes, in Redis (decision 0242); off: one for each process.
SHARED_QUEUE = env_flag("PARLEY_SHARED_QUEUE", False)
MAX_QUEUED_GENERATIONS = int(env("PARLEY_MAX_QUEUED_GENERATIONS", "200"))

# --- Billing --------------------------------------------------------------------------------
BILLING_TAX_RATE = Decimal(env("PARLEY_BILLING_TAX_RATE", "0"))
try:
    BILLING_TAXES = parse_taxes(env("PARLEY_BILLING_TAXES", ""))
except ValueError as error:
    raise ImproperlyConfigured(f"PARLEY_BILLING_TAXES: {error}") from error
BILLING_INVOICE_SERIES = env("PARLEY_BILLING_INVOICE_SERIES", "INV")
# Payment by customers; without a key the pages say that it is not configured.
STRIPE_SECRET_KEY = env("PARLEY_STRIPE_SECRET_KEY", "")
STRIPE_WEBHOOK_SECRET = env("PARLEY_STRIPE_WEBHOOK_SECRET", "")
STRIPE_URL = env("PARLEY_STRIPE_URL", "")
if STRIPE_SECRET_KEY and not STRIPE_WEBHOOK_SECRET:
    raise ImproperlyConfigured(
        "PARLEY_STRIPE_SECRET_KEY needs PARLEY_STRIPE_WEBHOOK_SECRET, by which payments are seen."
    )
BILLING_DUNNING = env_flag("PARLEY_BILLING_DUNNING", bool(STRIPE_SECRET_KEY))
BILLING_SELLER_NAME = env("PARLEY_BILLING_SELLER_NAME", "Parley")
BILLING_SELLER_ADDRESS = env("PARLEY_BILLING_SELLER_ADDRESS", "").replace("\\n", "\n")
BILLING_SELLER_TAX_ID = env("PARLEY_BILLING_SELLER_TAX_ID", "")
# Webhooks to private addresses would let a customer reach our own network.
BILLING_WEBHOOKS_TO_PRIVATE = env_flag("PARLEY_BILLING_WEBHOOKS_TO_PRIVATE", False)

# --- Mail -----------------------------------------------------------------------------------
EMAIL_HOST = env("PARLEY_SMTP_HOST", "")
EMAIL_HOST_USER = env("PARLEY_SMTP_USER", "")
EMAIL_HOST_PASSWORD = env("PARLEY_SMTP_PASSWORD", "")
_SMTP_TLS = env("PARLEY_SMTP_TLS", "starttls")
if _SMTP_TLS not in {"starttls", "tls", "none"}:
    raise ImproperlyConfigured(f"PARLEY_SMTP_TLS is {_SMTP_TLS!r}; there are starttls, tls, none.")
EMAIL_USE_TLS = _SMTP_TLS == "starttls"
EMAIL_USE_SSL = _SMTP_TLS == "tls"
EMAIL_PORT = int(env("PARLEY_SMTP_PORT", "465" if EMAIL_USE_SSL else "587"))
# A server may take long to look at a mail before it answers; whoever gives up sends it twice.
EMAIL_TIMEOUT = 120
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if EMAIL_HOST
    else "backend.accounts.mail.LocalOutbox"
)
DEFAULT_FROM_EMAIL = env("PARLEY_EMAIL_FROM", "parley@localhost")
# Opens the page with the mails of an installation without a mail server, which then stand in the
# log too; `make run` sets it. Without a token there is no page.
OUTBOX_TOKEN = env("PARLEY_OUTBOX_TOKEN", "")

# --- Background work ------------------------------------------------------------------------
_BROKER = celery_broker(_REDIS)
CELERY_BROKER_URL = _BROKER.url
# A task that is not acknowledged for so long is given to another worker: one that runs for longer
# runs twice, or is dropped by then because it has expired (backend/schedule.py).
CELERY_BROKER_TRANSPORT_OPTIONS = {**_BROKER.transport_options, "visibility_timeout": 3600}
CELERY_BROKER_USE_SSL = _BROKER.use_ssl
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ROUTES = {**TASK_ROUTES, **BILLING_ROUTES}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = with_expiry({**BEAT_SCHEDULE, **BILLING_SCHEDULE})
CONVERSATION_RETENTION_DAYS = 30
# How long the operator keeps backups: certificates of erasure say so.
BACKUP_DAYS = int(env("PARLEY_BACKUP_DAYS", "30"))

# --- Language, time, logs -------------------------------------------------------------------
# The product speaks English. What is mailed and printed is in its reader's language
# (backend/platform/languages.py), by the catalogues that `make messages` keeps.
LANGUAGE_CODE = "en-us"
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("pt-br", "Português (Brasil)"),
    ("ja", "日本語"),
    ("zh-hans", "简体中文"),
    ("ar", "العربية"),
]
LOCALE_PATHS = [BASE_DIR / "backend" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
LOG_LEVEL = env("PARLEY_LOG_LEVEL", "INFO")
LOG_FORMAT = env("PARLEY_LOG_FORMAT", "json")
LOGGING_CONFIG = "backend.logs.configure"
LOGGING = {"level": LOG_LEVEL, "format": LOG_FORMAT}

UNFOLD = {
    "SITE_TITLE": "Parley",
    "SITE_HEADER": "Parley",
    "SITE_SUBHEADER": "Administration",
    "SITE_SYMBOL": "forum",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("app/icon.svg")},
    ],
    "DASHBOARD_CALLBACK": "backend.admin.dashboard.dashboard",
    "SIDEBAR": {"navigation": "backend.admin.navigation.navigation"},
    "COLORS": {
        "primary": {  # the blue of the page
            "50": "oklch(97% .014 264)",
            "100": "oklch(93.5% .03 264)",
            "200": "oklch(88% .06 264)",
            "300": "oklch(81% .1 264)",
            "400": "oklch(72% .15 264)",
            "500": "oklch(64% .19 264)",
            "600": "oklch(55% .22 264)",
            "700": "oklch(48% .2 264)",
            "800": "oklch(41% .17 264)",
            "900": "oklch(36% .13 264)",
            "950": "oklch(27% .09 264)",
        }
    },
}
