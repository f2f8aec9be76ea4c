"""Gives the gateway's code the settings that it needs to be imported; nothing connects anywhere."""

import os
import secrets

import django

_STAND_INS = {
    "DJANGO_SETTINGS_MODULE": "backend.settings",
    "DATABASE_URL": "postgres://127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
}


def prepare() -> None:
    """Call it before anything of `backend` that has models is imported."""
    for name, value in _STAND_INS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("PARLEY_KEYS", f"1:{secrets.token_urlsafe(32)}")
    django.setup()
