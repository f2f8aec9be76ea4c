"""Session rows and the keys that sign them.

Django signs what a session holds with SECRET_KEY, and keeps a hash of the user's password in it.
Its own way through a rotation gives each session a new id at the next request: of two requests at
once one is then signed out, and a WebSocket (channels) knows no fallback at all. So the hash
(`User.get_session_auth_hash`) needs no key, and `manage.py rotate-keys` signs the rows anew.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.cache import caches
from django.utils.module_loading import import_string

from backend.platform.encryption import Unreadable, keyring
from backend.platform.reencryption import KeyedColumn


def _version(stored: str) -> int | None:
    ring = keyring()
    for version in sorted(ring.versions(), reverse=True):
        try:
            _loads(stored, [ring.django_key(version)])
        except signing.BadSignature:
            continue
        return version
    return None


def _renewed(row: Session) -> str:
    ring = keyring()
    try:
        content = _loads(row.session_data, [ring.django_key(v) for v in ring.versions()])
    except signing.BadSignature:
        raise Unreadable("The session was signed with a dropped key version.") from None
    _take_over_hash(content)
    store = _store()
    return signing.dumps(
        content,
        key=ring.django_key(ring.writing()),
        salt=store.key_salt,
        serializer=store.serializer,
        compress=True,
    )


def _take_over_hash(content: dict[str, Any]) -> None:
    """A session of an earlier release has a hash with a key, which is about to be dropped."""
    user_id = content.get(SESSION_KEY)
    users = get_user_model()._default_manager
    user = users.filter(pk=user_id).first() if user_id else None
    if user is not None and content.get(HASH_SESSION_KEY) in set(
        user.get_session_auth_fallback_hash()
    ):
        content[HASH_SESSION_KEY] = user.get_session_auth_hash()


def _forget_cached(row: Session) -> None:
    store = _store(row.session_key)
    caches[settings.SESSION_CACHE_ALIAS].delete(store.cache_key_prefix + row.session_key)


def _loads(stored: str, keys: list[str]) -> Any:
    store = _store()
    return signing.loads(
        stored, key=keys[0], salt=store.key_salt, serializer=store.serializer, fallback_keys=[*keys]
    )


def _store(session_key: str | None = None) -> Any:
    return import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session_key)


COLUMN = KeyedColumn(
    label="sessions",
    model="sessions.Session",
    field="session_data",
    version=_version,
    renewed=_renewed,
    after=_forget_cached,
)
