"""A code as the second step: of a sign-in, of the admin, before a change of the account's security.

Whoever guesses here knows the password already. So the wait grows with each wrong code, the user
is mailed after the third, and after the hundredth none is looked at until the password is another
one (throttling.py counts by user and password). The right code ends the count.
"""

from backend.accounts.models import User
from backend.accounts.second_factors import code_use, wrong_codes_notify
from backend.api import throttling
from backend.platform.database import in_database

_NOTIFIED_AT = (3, throttling.MAX_WRONG_CODES)


async def code_given(user: User, code: str) -> str | None:
    """Use a code of the app or a recovery code up.

    Returns:
        Which it was; None where it is neither, or was used before.
    Raises:
        RateLimited: after wrong codes; `retry_after` grows with each. PermissionDenied:
            `codes_locked`, after too many.
    """
    wrong = await throttling.count_second_step(user)
    factor = await in_database(code_use, user=user, code=code)
    if factor is not None:
        await throttling.forgive_second_step(user)
    elif wrong in _NOTIFIED_AT:
        await in_database(wrong_codes_notify, user=user)
    return factor
