"""What the settings are where the product is served over https."""

import json
import os
import subprocess
import sys

_SHOWN = (
    "DEBUG",
    "SESSION_COOKIE_NAME",
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_PATH",
    "SESSION_COOKIE_DOMAIN",
    "CSRF_COOKIE_NAME",
    "CSRF_COOKIE_SECURE",
    "SECURE_HSTS_SECONDS",
    "SECURE_HSTS_INCLUDE_SUBDOMAINS",
)


def test_cookies_under_https_are_bound_to_the_host_and_nothing_is_debugged():
    code = f"""
import json
from django.conf import settings
print(json.dumps({{name: getattr(settings, name) for name in {_SHOWN}}}))
"""
    environment = {
        **os.environ,
        "PARLEY_PUBLIC_URL": "https://chat.example.com",
        "DJANGO_SETTINGS_MODULE": "backend.settings",
    }
    shown = subprocess.check_output([sys.executable, "-c", code], env=environment)
    assert json.loads(shown) == {
        "DEBUG": False,
        "SESSION_COOKIE_NAME": "__Host-sessionid",
        "SESSION_COOKIE_SECURE": True,
        "SESSION_COOKIE_PATH": "/",
        "SESSION_COOKIE_DOMAIN": None,
        "CSRF_COOKIE_NAME": "__Host-csrftoken",
        "CSRF_COOKIE_SECURE": True,
        "SECURE_HSTS_SECONDS": 365 * 24 * 3600,
        "SECURE_HSTS_INCLUDE_SUBDOMAINS": True,
    }
