"""Security headers by part of the site.

The page runs only our own files; the API's answers are never rendered. What comes of a model runs
in frames of an opaque origin without network, which only the page may hold: one draws diagrams, one
shows artifacts, one runs Python. Two pages of other people's code have the least that each needs:

- the admin (django-unfold): its templates carry style attributes, which need `unsafe-inline` for
  styles; its attribute expressions are interpreted, not evaluated (frontend/admin).
- the API reference (Swagger UI): style attributes and `data:` icons, no evaluation.
"""

from functools import cache

from django.conf import settings

from backend.api.response_headers import Checked, checked

_COMMON = "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

PAGE_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    f" connect-src 'self'; {_COMMON}"
)
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    f" img-src 'self' data:; connect-src 'self'; {_COMMON}"
)
ADMIN_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    f" img-src 'self' data:; font-src 'self'; connect-src 'self'; {_COMMON}"
)
DIAGRAM_PATH = "/frames/diagram"
DIAGRAM_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# The document within it, the artifact, inherits it: `frame-src` (of `default-src`) keeps that one
# from leading its own frame to an address that says something.
ARTIFACT_PATH = "/frames/artifact"
ARTIFACT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
    " style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# Its worker, begun from a `blob:`, inherits it. WebAssembly is compiled; nothing is evaluated.
PYTHON_PATH = "/frames/python"
PYTHON_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval';"
    " worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_FRAME_POLICIES = {
    DIAGRAM_PATH: DIAGRAM_POLICY,
    ARTIFACT_PATH: ARTIFACT_POLICY,
    PYTHON_PATH: PYTHON_POLICY,
}
API_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
}


def content_security_policy_for(path: str) -> str:
    """The policy for a path; an unknown path is treated as the page, the strict one."""
    if path.startswith(("/api/", "/v1/")):
        return API_POLICY
    if path.startswith("/admin/"):
        return ADMIN_POLICY
    if path == "/docs":
        return DOCS_POLICY
    return _FRAME_POLICIES.get(path, PAGE_POLICY)


def headers_for(path: str) -> Checked:
    """The headers of an answer; a view's own header of the same name wins."""
    return _headers(
        content_security_policy_for(path),
        is_frame=path in _FRAME_POLICIES,
        is_api=path.startswith(("/api/", "/v1/")),
        is_shared=path.startswith(("/share/", "/api/shared/")),
        hsts=_hsts(),
    )


@cache
def _headers(policy: str, *, is_frame: bool, is_api: bool, is_shared: bool, hsts: str) -> Checked:
    headers = {**_ALWAYS, "Content-Security-Policy": policy}
    if is_frame:
        headers["X-Frame-Options"] = "SAMEORIGIN"
    if is_api:
        headers["Cache-Control"] = "no-store"
    if is_shared:
        headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    if hsts:
        headers["Strict-Transport-Security"] = hsts
    return checked(headers)


def _hsts() -> str:
    """Empty where the product is not reached by https."""
    if not settings.SECURE_HSTS_SECONDS:
        return ""
    below = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
    return f"max-age={settings.SECURE_HSTS_SECONDS}{below}"
