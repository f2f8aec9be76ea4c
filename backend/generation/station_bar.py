"""Where a generation's time went, as a bar for the admin.

An SVG, because the admin's Content-Security-Policy takes no style attributes.
"""

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from backend.generation.stations import in_order

_WIDTH = 600
_COLOURS = {
    "edge": "#64748b",
    "admission": "#0ea5e9",
    "pre_check": "#14b8a6",
    "queue": "#f59e0b",
    "prefill": "#8b5cf6",
    "first_token": "#ec4899",
    "decode": "#22c55e",
    "post_check": "#0d9488",
    "buffer": "#ef4444",
}


def station_bar(milliseconds: dict[str, float] | None) -> SafeString | str:
    """The bar, with the same in words below it; "-" where nothing is known."""
    passed = in_order(milliseconds)
    if not passed:
        return "-"
    whole = sum(passed.values()) or 1.0
    at, parts = 0.0, []
    for name, took in passed.items():
        width = _WIDTH * took / whole
        parts.append((f"{at:.1f}", f"{width:.1f}", _COLOURS[name], f"{name}: {took:g} ms"))
        at += width
    words = ", ".join(f"{name.replace('_', ' ')} {took:g} ms" for name, took in passed.items())
    return format_html(
        '<svg role="img" aria-label="{}" width="100%" height="16" viewBox="0 0 {} 16"'
        ' preserveAspectRatio="none">{}</svg><p>{}</p>',
        words,
        _WIDTH,
        format_html_join(
            "",
            '<rect x="{}" y="0" width="{}" height="16" fill="{}"><title>{}</title></rect>',
            parts,
        ),
        words,
    )
