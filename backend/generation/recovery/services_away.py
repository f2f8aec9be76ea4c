"""What says nothing about the generation at hand: a service is away, and comes back."""

from django.db import InterfaceError, OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

SERVICES_AWAY = (RedisConnectionError, RedisTimeoutError, OperationalError, InterfaceError)
"""They end a round, which is repeated; any other exception is one generation's own."""
