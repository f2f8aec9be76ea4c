"""`manage.py seed_demo`: what a fresh installation needs before its first prompt.

It stands in gateway because this is the lowest app that knows the pools and their prices.
Run it as often as you like: what is there stays as it is.
"""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from backend.accounts.demo import DEMO_ORGANIZATION, LOGIN_FILE, demo_ensure
from backend.generation.pools.config import load_pools, read_pools
from billing.prices.services import prices_seed


class Command(BaseCommand):
    help = "Make the organization Demo with its owner, and the first prices of the pools."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--later",
            metavar="POOLS_FILE",
            action="append",
            default=[],
            help="of models that are served later and have their prices now",
        )

        parser.add_argument(
            "--price",
            metavar="MODEL=PRICE",
            action="append",
            default=[],
            help="of 1,000 input tokens, for models that give no text",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        login = demo_ensure(directory=settings.VAR_DIR)
        pools = list(load_pools().models)
        for path in options["later"]:
            pools += read_pools(Path(path), os.environ).models
        texts = dict(price.split("=", 1) for price in options["price"])
        vectors = {
            model: {"input": price, "cached_input": price, "output": "0"}
            for model, price in texts.items()
        }
        prices_seed(prices={**{pool.id: pool.price_per_1k for pool in pools}, **vectors})
        self.stdout.write(f"Organization {DEMO_ORGANIZATION}, kept in {LOGIN_FILE}:")
        self.stdout.write(f"  email:    {login.email}")
        self.stdout.write(f"  password: {login.password}")
