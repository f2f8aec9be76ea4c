"""The admin site: open to staff who have given a second factor in this session."""

from django.contrib.admin.apps import SimpleAdminConfig
from django.http import HttpRequest
from unfold.sites import UnfoldAdminSite


class AdminConfig(SimpleAdminConfig):
    """Without the apps' admin modules: backend/urls.py reads them, which only web processes do. In
    the other ones they would be a quarter of the start, and 300 modules in memory."""

    default_site = "backend.admin.site.AdminSite"


class AdminSite(UnfoldAdminSite):
    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, with a second factor: one that they still have, given when they signed in. A
        session that an organization's identity provider began has no access to the installation."""
        return (
            super().has_permission(request)
            and not is_sso_session(request)
            and _second_factor_given(request)
        )


def is_sso_session(request: HttpRequest) -> bool:
    from backend.accounts.sessions import SSO_ORGANIZATION  # needs the models

    return request.session.get(SSO_ORGANIZATION) is not None


def _second_factor_given(request: HttpRequest) -> bool:
    from backend.accounts.second_factors import has_second_factor  # needs the models
    from backend.api.sign_in import FACTOR

    user_id = request.user.pk
    if user_id is None or request.session.get(FACTOR) is None:
        return False
    known: bool | None = getattr(request, "_has_second_factor", None)
    if known is None:  # asked several times for each page
        known = has_second_factor(user_id=user_id)
        request._has_second_factor = known  # type: ignore[attr-defined]
    return known
