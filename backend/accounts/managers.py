"""Creation of users by e-mail address, as Django's own commands expect it."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.base_user import BaseUserManager
from django.db.models import QuerySet
from django.db.models.functions import Lower

if TYPE_CHECKING:
    from backend.accounts.models import User


class UserManager(BaseUserManager["User"]):
    """`create_user` and `create_superuser` without a user name."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Made at the console: their address counts as verified."""
        from allauth.account.models import EmailAddress  # needs the user model

        user = self.create_user(email, password, is_staff=True, is_superuser=True, **fields)
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        return user

    def with_address(self, email: str) -> "QuerySet[User]":
        """The user with this address, whatever its case. One probe of the unique index."""
        return self.alias(email_lower=Lower("email")).filter(email_lower=email.lower())

    def get_by_natural_key(self, username: str | None) -> "User":
        """As Django's sign-in asks for them."""
        return self.with_address(username or "").get()
