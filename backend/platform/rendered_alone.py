"""Migrations render the model that they add to, and not all that are related to it.

Django keeps a class for each model as it is between two operations of a migration. Where one is
added, or a field is, it makes the classes of all models anew that are related to it, over any
number of steps: with users and organizations in the middle nearly all, thousands of classes in a
first migration. Of a class that is kept only what refers to the new one is missing; who asks for
that, Python code of a migration, gets all classes made anew (`is_delayed`). Schemas are changed by
the new class. What alters, renames or removes is as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.migrations.state import ModelState, ProjectState
from django.db.models import Field

_add_model = ProjectState.add_model
_add_field = ProjectState.add_field


@contextmanager
def rendered_alone() -> Iterator[None]:
    """While migrations are applied."""
    patched: Any = ProjectState
    patched.add_model, patched.add_field = _model_added, _field_added
    try:
        yield
    finally:
        patched.add_model, patched.add_field = _add_model, _add_field


def _model_added(state: ProjectState, model_state: ModelState) -> None:
    with _without_classes(state, model_state.app_label, model_state.name_lower):
        _add_model(state, model_state)


def _field_added(
    state: ProjectState,
    app_label: str,
    model_name: str,
    name: str,
    field: "Field[Any, Any]",
    preserve_default: bool,
) -> None:
    with _without_classes(state, app_label, model_name):
        _add_field(state, app_label, model_name, name, field, preserve_default)


@contextmanager
def _without_classes(state: Any, app_label: str, model_name: str) -> Iterator[None]:
    """A state without classes has none to make anew; the model's own follows."""
    apps = state.__dict__.pop("apps", None)
    yield
    if apps is not None:
        state.apps = apps
        state.is_delayed = True
        state._reload({(app_label, model_name)})
