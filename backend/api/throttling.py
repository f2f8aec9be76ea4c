"""What may be tried so often, counted in Redis, so that all web processes see it: attempts to sign
in or up, unknown keys, and work that no plan's limit covers (moderations, uploads,
search), by user and by address.

Signing in has two counters, before a password is looked at: one for the address it comes from,
which stops a list of stolen passwords, and one for the e-mail address, which stops a guess at one
account from many addresses. The second is the same whether or not the account exists. The
right password takes its own attempt back and clears the second. A browser that has signed in to
the account before (devices.py) has one counter of its own instead of both, so that no
attacker keeps the account's owner out by guessing.

Passwords of signed-in people are counted by person, links of mails by address, mails by both. Codes
of a second factor are counted by person until the right one, and each wrong one lengthens the wait.
Of a sign-in through an identity provider, its beginning and each answer are counted by address and
taken back when it succeeds: what remains are the failed ones, and an office behind one address
locks itself out as little as one person does.

Counting and refusing are one atomic step: parallel attempts cannot slip through together.
"""

import hashlib
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest

from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.api.client_address import client_network
from backend.api.devices import device_of
from backend.platform.errors import PermissionDenied, RateLimited
from backend.platform.redis import async_client

# KEYS: counters. ARGV: limit and seconds for each. Returns 0, or the seconds to wait.
# All counters are checked before any is raised: a refused attempt costs nothing.
_COUNT = """
local wait = 0
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[2 * i - 1]) then
    wait = math.max(wait, redis.call('TTL', key), 1)
  end
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('EXPIRE', key, ARGV[2 * i]) end
end
return 0
"""


# One less, of a count that still stands. A count that has expired meanwhile stays away.
_TAKE_BACK = """
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
"""

# KEYS: wrong codes so far, and the wait. ARGV: how many are free, how many are allowed, the first
# and the longest wait, and how long the count is kept, in seconds. Returns how many codes were
# given with this one, and the seconds to wait, for which nothing is counted.
_COUNT_CODE = """
local wait = redis.call('TTL', KEYS[2])
if wait > 0 then return {0, wait} end
local given = redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[5])
local over = given - tonumber(ARGV[1])
if over >= 0 and given <= tonumber(ARGV[2]) then
  local next_wait = math.min(tonumber(ARGV[3]) * 2 ^ math.min(over, 30), tonumber(ARGV[4]))
  redis.call('SET', KEYS[2], '', 'EX', string.format('%d', next_wait))
end
return {given, 0}
"""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `attempts` in `seconds`, from the first of them on."""

    attempts: int
    seconds: int


LOGINS_PER_ADDRESS = AttemptLimit(30, 300)
LOGINS_PER_EMAIL = AttemptLimit(10, 900)
LOGINS_PER_DEVICE = AttemptLimit(10, 900)
UNSEEN_KEYS_PER_ADDRESS = AttemptLimit(60, 60)
LINKS_PER_ADDRESS = AttemptLimit(3 * settings.SIGNUPS_PER_HOUR, 600)
LINK_PASSWORDS = AttemptLimit(10, 900)
SSO_STARTS_PER_ADDRESS = AttemptLimit(300, 600)
SSO_ANSWERS_PER_ADDRESS = AttemptLimit(60, 600)
CODES_PER_USER = AttemptLimit(10, 900)
# Of codes after the right password: so many without a wait, which doubles from the first to the
# longest, and so many until there is another password.
FREE_CODES = 3
MAX_WRONG_CODES = 100
FIRST_WAIT_S = 15
MAX_WAIT_S = 3600
_CODES_KEPT_S = 30 * 24 * 3600
CHANGES_PER_USER = AttemptLimit(120, 3600)
MAILS_PER_ADDRESS = AttemptLimit(settings.SIGNUPS_PER_HOUR, 3600)
# To one address: from one client, and in all. A user who is mailed at another's request still has
# some of their own.
MAILS_FROM_CLIENT_TO_EMAIL = AttemptLimit(5, 3600)
MAILS_TO_EMAIL = AttemptLimit(20, 3600)
SIGNUPS_PER_ADDRESS = AttemptLimit(settings.SIGNUPS_PER_HOUR, 3600)


# Of one user, with all their keys and sessions; an office behind one address may do four times
# that.
USES = {
    "moderations": AttemptLimit(settings.MODERATIONS_PER_MINUTE, 60),
    "uploads": AttemptLimit(settings.UPLOADS_PER_MINUTE, 60),
    "searches": AttemptLimit(settings.SEARCHES_PER_MINUTE, 60),
    "tool_sign_ins": AttemptLimit(60, 600),
    "reads of a provider's metadata": AttemptLimit(10, 60),
}
INVITATIONS_PER_ORGANIZATION = AttemptLimit(settings.INVITATIONS_PER_HOUR, 3600)
_USERS_AT_AN_ADDRESS = 4


async def count_use(request: HttpRequest, principal: Principal, use: str) -> None:
    """Count one of USES; RateLimited when there have been too many."""
    limit = USES[use]
    at_address = AttemptLimit(limit.attempts * _USERS_AT_AN_ADDRESS, limit.seconds)
    wait = await _wait_or_count(
        {
            _key(use, "user", str(principal.user_id)): limit,
            _key(use, "address", client_network(request)): at_address,
        }
    )
    if wait:
        raise RateLimited(
            f"Too many {use}: {limit.attempts} a minute are allowed. Try again in {wait} seconds.",
            retry_after=wait,
        )


async def count_unseen_key(request: HttpRequest) -> None:
    """Count an API key that has not been used before, right or wrong: each costs a query.
    RateLimited when there have been too many from this address."""
    await _count({_key("key", "address", client_network(request)): UNSEEN_KEYS_PER_ADDRESS})


async def count_login(request: HttpRequest, email: str) -> None:
    """Count an attempt to sign in; RateLimited when there have been too many."""
    device = device_of(request, email)
    if device is not None:
        await _count({_key("login", "device", device): LOGINS_PER_DEVICE})
        return
    await _count(
        {
            _key("login", "address", client_network(request)): LOGINS_PER_ADDRESS,
            _login_email_key(email): LOGINS_PER_EMAIL,
        }
    )


async def forgive_login(request: HttpRequest, email: str) -> None:
    """The right password was given: this attempt counts nowhere, earlier mistakes with this
    account no longer. A known device clears its own counter only, not that of those who guess."""
    client = async_client()
    device = device_of(request, email)
    if device is not None:
        await client.delete(_key("login", "device", device))
        return
    await _take_back(_key("login", "address", client_network(request)))
    await client.delete(_login_email_key(email))


async def count_signup(request: HttpRequest) -> None:
    """Count an attempt to sign up; RateLimited when there have been too many."""
    await _count({_key("signup", "address", client_network(request)): SIGNUPS_PER_ADDRESS})


async def count_link(request: HttpRequest) -> None:
    """Count a try at a link of a mail, or at a passkey; RateLimited when there were too many."""
    await _count({_key("link", "address", client_network(request)): LINKS_PER_ADDRESS})


async def count_link_password(token: str) -> None:
    """Count a password that is given with a link of a mail, by the link: who was mailed one that
    somebody else asked for keeps no other person out."""
    await _count({_key("link", "password", token): LINK_PASSWORDS})


async def count_sso_start(request: HttpRequest) -> None:
    """Count the beginning of a sign-in through an identity provider, or a look at what such a
    provider needs; RateLimited when too many from this address came to nothing."""
    await _count({_key("sso", "address", client_network(request)): SSO_STARTS_PER_ADDRESS})


async def count_sso_answer(request: HttpRequest) -> None:
    """Count what a provider sends by a browser; RateLimited when too many were refused."""
    await _count({_key("sso-answer", "address", client_network(request)): SSO_ANSWERS_PER_ADDRESS})


async def forgive_sso_answer(request: HttpRequest) -> None:
    """The answer was right: it counts nowhere."""
    await _take_back(_key("sso-answer", "address", client_network(request)))


async def forgive_sso_start(request: HttpRequest) -> None:
    """The sign-in that began has succeeded: it counts nowhere."""
    await _take_back(_key("sso", "address", client_network(request)))


async def count_second_step(user: User) -> int:
    """Count a code given after the right password, as a wrong one until it is forgiven; how many
    there are now. Another password begins anew.

    Raises:
        RateLimited: the wait after the last is not over. PermissionDenied: `codes_locked`.
    """
    arguments = (FREE_CODES, MAX_WRONG_CODES, FIRST_WAIT_S, MAX_WAIT_S, _CODES_KEPT_S)
    client = async_client()
    answer = await client.eval(_COUNT_CODE, 2, *_second_step_keys(user), *map(str, arguments))
    given, wait = (int(number) for number in answer)
    if wait:
        raise _too_many(wait)
    if given > MAX_WRONG_CODES:
        raise PermissionDenied(
            "Too many wrong codes were given: choose another password to try again.",
            code="codes_locked",
        )
    return given


async def forgive_second_step(user: User) -> None:
    """The right code was given."""
    await async_client().delete(*_second_step_keys(user))


def _second_step_keys(user: User) -> tuple[str, str]:
    # By the password too: whoever guesses knows it, and another one ends the count.
    who = f"{user.pk} {user.get_session_auth_hash()}"
    return _key("second-step", "given", who), _key("second-step", "wait", who)


async def count_code(user_id: UUID) -> None:
    """Count a try at a new app's first code or at the password of a signed-in person, who is known
    by their session already: no other user can use these tries up."""
    await _count({_key("code", "user", str(user_id)): CODES_PER_USER})


async def forgive_codes(user_id: UUID) -> None:
    """The right code or password was given."""
    await async_client().delete(_key("code", "user", str(user_id)))


async def count_change(user_id: UUID) -> None:
    """Count a change of an account's security; RateLimited when there were too many."""
    await _count({_key("change", "user", str(user_id)): CHANGES_PER_USER})


async def may_mail(request: HttpRequest, email: str) -> bool:
    """Count a mail that this client asks for. False where the address has had enough: it gets
    none, and the answer is the same, or it would show who is registered.

    Raises:
        RateLimited: the client has asked for too many, to whichever address.
    """
    await _count({_key("mail", "address", client_network(request)): MAILS_PER_ADDRESS})
    to = _account_of(email)
    limits = {
        _key("mail", "pair", f"{client_network(request)} {to}"): MAILS_FROM_CLIENT_TO_EMAIL,
        _key("mail", "email", to): MAILS_TO_EMAIL,
    }
    return not await _wait_or_count(limits)


async def may_mail_invitation(request: HttpRequest, organization_id: UUID, email: str) -> bool:
    """As `may_mail`, of an invitation: what counts is the organization, not the client.

    Raises:
        RateLimited: the organization has invited too many people.
    """
    name = _key("invitation", "organization", str(organization_id))
    await _count({name: INVITATIONS_PER_ORGANIZATION})
    to = _account_of(email)
    limits = {
        _key("mail", "pair", f"{organization_id} {to}"): MAILS_FROM_CLIENT_TO_EMAIL,
        _key("mail", "email", to): MAILS_TO_EMAIL,
    }
    return not await _wait_or_count(limits)


async def _count(limits: dict[str, AttemptLimit]) -> None:
    wait = await _wait_or_count(limits)
    if wait:
        raise _too_many(wait)


def _too_many(wait: int) -> RateLimited:
    return RateLimited(
        f"Too many attempts. Try again in {wait} seconds.",
        code="too_many_attempts",
        retry_after=wait,
    )


async def _take_back(name: str) -> None:
    await async_client().eval(_TAKE_BACK, 1, name)


async def _wait_or_count(limits: dict[str, AttemptLimit]) -> int:
    """Count one in each; or the seconds to wait, and nothing is counted."""
    arguments = [str(n) for limit in limits.values() for n in (limit.attempts, limit.seconds)]
    return int(await async_client().eval(_COUNT, len(limits), *limits, *arguments))


def _login_email_key(email: str) -> str:
    return _key("login", "email", _account_of(email))


def _account_of(email: str) -> str:
    return email.strip().casefold()


def _key(action: str, kind: str, value: str) -> str:
    """Hashed: Redis is not a place to keep e-mail addresses."""
    return f"attempts:{action}:{kind}:{hashlib.sha256(value.encode()).hexdigest()[:32]}"
