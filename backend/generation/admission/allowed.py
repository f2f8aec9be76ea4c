"""Whether a caller may use a model: by their role, and by the rules of their project."""

from backend.accounts.principal import Principal
from backend.platform.errors import PermissionDenied

READS_ONLY = "viewer"


def require_allowed(principal: Principal, model: str) -> None:
    """Raises PermissionDenied: the role only reads, or the project may not use the model.

    Source of the second's code: OpenAI's API, for a project without access to a model.
    """
    if principal.role == READS_ONLY:
        raise PermissionDenied("The role viewer reads only; it starts no generation.")
    if not principal.project.allows(model):
        raise PermissionDenied(
            f"Project {principal.project_id} does not have access to model {model!r}.",
            param="model",
            code="model_not_found",
        )
