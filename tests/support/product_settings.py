"""The settings of the products that tests start: those of the product, but for what it costs to
hash a password. Hundreds of users sign up in a run, a quarter of a second of processor time each.

The real cost is in the tests' own process and in what `make run` starts.
"""

from backend.settings import *  # noqa: F403

# Identity providers of the tests are on loopback.
SSO_TO_PRIVATE = True
# So are their tool servers, and what hangs shall not hold a test up.
TOOLS_TO_PRIVATE = True
TOOL_TIMEOUT_S = 5.0
# Pages that tests have read are at this address, and at no other: 127.0.0.1 stays out of reach.
WEB_PRIVATE_HOSTS = frozenset({"127.0.0.2"})
SUPPORT_CONTACT = "mailto:help@example.org"
PASSWORD_HASHERS = ["tests.support.hashers.CheapArgon2PasswordHasher"]
