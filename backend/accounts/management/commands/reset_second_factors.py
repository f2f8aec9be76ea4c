"""Takes away the second factors of a user who has lost all of them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import User
from backend.accounts.second_factors import second_factors_reset


class Command(BaseCommand):
    help = "Take the second factors of the account with this address away; a mail says so."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.with_address(options["email"]).first()
        if user is None:
            raise CommandError(f"No account has the address {options['email']}.")
        second_factors_reset(user=user)
        self.stdout.write(f"{user.email} signs in with the password alone now.")
