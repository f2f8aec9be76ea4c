"""Creation of users by e-mail address, as Django's own commands expect it."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.base_user import BaseUserManager
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
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        """The user with this address, whatever its case. One probe of the unique index."""
        return self.alias(email_lower=Lower("email")).get(email_lower=(username or "").lower())
