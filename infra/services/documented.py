"""The services' rows in docs/operations.md, written from what their classes say.

    python -m infra.services.documented

tests/infra/test_service_variables.py fails while the page says something else.
"""

from pathlib import Path

from infra.services.bundle import SERVICES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def tables() -> dict[str, list[str]]:
    """The rows, by the header of their table (the first of the page with that header)."""
    return {
        "| variable | default | meaning |": [
            f"| `{service.variable}` | required | {service.meaning} |" for service in SERVICES
        ],
        "| lost | what users see | what happens | what to do |": [
            f"| {' | '.join(service.when_lost)} |" for service in SERVICES
        ],
    }


def with_rows(page: str) -> str:
    """`page` with a row for every service, together where the first of them stood."""
    lines = page.splitlines()
    for header, rows in tables().items():
        names = [row.split("|")[1] for row in rows]
        begin = lines.index(header) + 2
        end = next(n for n in range(begin, len(lines)) if not lines[n].startswith("|"))
        old = [n for n in range(begin, end) if lines[n].split("|")[1] in names]
        at = old[0] if old else begin
        lines[begin:end] = [
            *(lines[n] for n in range(begin, at)),
            *rows,
            *(lines[n] for n in range(at, end) if n not in old),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(with_rows(PAGE.read_text()))
