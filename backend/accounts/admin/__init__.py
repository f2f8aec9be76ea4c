"""Staff pages of `accounts`. Importing this registers them."""

from backend.accounts.admin import keys, mails, operators, organizations, users

__all__ = ["keys", "mails", "operators", "organizations", "users"]
