"""The settings as mypy's Django plugin imports them: without services, so with stand-in URLs.

Nothing connects to these; the plugin only reads the installed apps and their models.
"""

import os

os.environ.setdefault("DATABASE_URL", "postgresql://localhost/typing")
os.environ.setdefault("REDIS_URL", "redis://localhost/0")
os.environ.setdefault("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
os.environ.setdefault("PARLEY_KEYS", "1:only-for-typing-and-long-enough-to-be-taken")

from backend.settings import *  # noqa: F403
