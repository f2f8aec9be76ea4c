"""The tool `python`: a program that a model writes, run by a page of the person who asks.

The page runs it in its own sandbox (decision 0347); here is what the model is told of it, and what
it reads of a program that has run. How a page comes to run one: page_runs.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction

from backend.accounts.principal import Principal
from backend.tools.models import ServerKind, Tool, ToolServer
from backend.tools.types import FoundTool, Made, cut, stored_text

PYTHON_NAME = "python"
LIMIT_S = 60
"""How long a page lets a program run."""

Outcome = Literal["ended", "raised", "stopped", "timeout", "failed"]
# Few words: the injection classifier takes many a sentence about a user for an order.
_FAILURES: dict[str, str] = {
    "stopped": "Interrupted.",
    "timeout": f"Timeout after {LIMIT_S} s.",
    "failed": "Python could not run.",
}

TOOL = FoundTool(
    name=PYTHON_NAME,
    title="Python",
    description=(
        "Runs a Python 3 program in the browser of the user, who sees it, and returns what it"
        " prints. Standard library only; no network; no input(). Files that the user attached are"
        " in the working directory. Files that the program writes there are shown to the user; a"
        f" plot is an SVG file. At most {LIMIT_S} s. Each program begins anew."
    ),
    input_schema={
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The program."}},
        "required": ["code"],
    },
    claims_read_only=False,
    claims_destructive=False,
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a page says of a program: all of it untrusted."""

    outcome: Outcome
    output: str
    files: Sequence[str]

    @property
    def failed(self) -> bool:
        return self.outcome in _FAILURES

    @property
    def made(self) -> Made:
        """As the model reads it."""
        written = f"Files: {', '.join(self.files)}" if self.files else ""
        said = [self.output.rstrip(), written, _FAILURES.get(self.outcome, "")]
        return Made(cut(stored_text("\n".join(part for part in said if part))))


@transaction.atomic
def python_ensure(*, principal: Principal) -> None:
    """The organization's row of the tool, as this version describes it. What its managers and
    people have set stays."""
    known = Tool.objects.filter(
        server__organization_id=principal.organization_id,
        server__kind=ServerKind.PYTHON,
        fingerprint=TOOL.fingerprint,
    )
    if known.exists():
        return
    # A server of theirs may have the plain name.
    names = ToolServer.objects.filter(organization_id=principal.organization_id)
    taken = names.exclude(kind=ServerKind.PYTHON).filter(name="Python").exists()
    ToolServer.objects.bulk_create(
        [
            ToolServer(
                organization_id=principal.organization_id,
                kind=ServerKind.PYTHON,
                name="Python in the browser" if taken else "Python",
                url="",
                has_answered=True,
            )
        ],
        ignore_conflicts=True,
    )
    server = ToolServer.objects.select_for_update(no_key=True).get(
        organization_id=principal.organization_id, kind=ServerKind.PYTHON
    )
    said = {
        "title": TOOL.title,
        "description": TOOL.description,
        "input_schema": TOOL.input_schema,
        "fingerprint": TOOL.fingerprint,
    }
    Tool.objects.update_or_create(
        server=server,
        name=TOOL.name,
        defaults=said,
        create_defaults={**said, "is_allowed": True, "needs_approval": True},
    )


def program_of(arguments: dict[str, Any]) -> str | None:
    """None where the model has written no program."""
    code = arguments.get("code")
    return code if isinstance(code, str) and code.strip() else None
