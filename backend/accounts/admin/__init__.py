"""Staff pages of `accounts`. Importing this registers them."""

from backend.accounts.admin import keys, organizations, users

__all__ = ["keys", "organizations", "users"]
