"""`manage.py seed_demo`: what a fresh installation needs before its first question.

It stands in gateway because this is the lowest app that knows the pools and their prices.
Run it as often as you like: what is there stays as it is.
"""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from backend.accounts.demo import DEMO_ORGANIZATION, LOGIN_FILE, demo_ensure
from backend.generation.pools.config import load_pools
from billing.prices.services import prices_seed


class Command(BaseCommand):
    help = "Make the organization Demo with its owner, and the first prices of the pools."

    def handle(self, *args: Any, **options: Any) -> None:
        login = demo_ensure(directory=settings.VAR_DIR)
        prices_seed(prices={pool.id: pool.price_per_1k for pool in load_pools().models})
        self.stdout.write(f"Organization {DEMO_ORGANIZATION}, kept in {LOGIN_FILE}:")
        self.stdout.write(f"  email:    {login.email}")
        self.stdout.write(f"  password: {login.password}")
