"""Many migrations one after the other, at a quarter of their cost."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db.migrations.state import ProjectState


@contextmanager
def models_rendered_alone() -> Iterator[None]:
    """An operation of a migration renders the model that it changes, and not all that are related.

    With organizations and users nearly all are, and most of a migration's time goes there. Only
    what runs Python with the models needs those of others in their present state too: before it
    Django renders all anew, since the state says that it is not complete (`is_delayed`).
    """

    def itself(
        state: ProjectState, app_label: str, model_name: str, delay: bool = False
    ) -> set[tuple[str, str]]:
        state.is_delayed = True
        return {(app_label, model_name)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProjectState, "_find_reload_model", itself)
        yield
