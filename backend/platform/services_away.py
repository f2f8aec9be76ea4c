"""What says nothing about the work at hand: Redis or PostgreSQL is away, and comes back."""

from django.db import InterfaceError, OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

SERVICES_AWAY = (RedisConnectionError, RedisTimeoutError, OperationalError, InterfaceError)
"""What failed so is tried again later; any other exception is the work's own."""
