"""What a migration adds is rendered alone; its Python code sees everything."""

from django.db import models
from django.db.migrations.operations import AddField, CreateModel
from django.db.migrations.state import ProjectState

from backend.platform.rendered_alone import rendered_alone


def key() -> models.Field:
    return models.BigAutoField(primary_key=True)


def rendered_state() -> ProjectState:
    """An organization and its members, whose classes are made."""
    state = ProjectState()
    CreateModel("Organization", [("id", key())]).state_forwards("shop", state)
    organization = models.ForeignKey("shop.Organization", models.CASCADE)
    fields = [("id", key()), ("organization", organization)]
    CreateModel("Member", fields).state_forwards("shop", state)
    assert state.apps.get_model("shop", "Member")
    return state


def add_orders(state: ProjectState) -> None:
    CreateModel("Order", [("id", key())]).state_forwards("shop", state)
    member = models.ForeignKey("shop.Member", models.CASCADE)
    AddField("Order", "member", member).state_forwards("shop", state)


def test_related_models_keep_their_classes_when_one_is_added() -> None:
    state = rendered_state()
    organization, member = (
        state.apps.get_model("shop", name) for name in ("organization", "member")
    )
    with rendered_alone():
        add_orders(state)
    assert state.apps.get_model("shop", "organization") is organization
    order = state.apps.get_model("shop", "order")
    assert order._meta.get_field("member").remote_field.model is member
    assert [field.column for field in order._meta.local_fields] == ["id", "member_id"]


def test_python_code_of_a_migration_sees_what_was_added() -> None:
    state = rendered_state()
    with rendered_alone():
        add_orders(state)
    state.clear_delayed_apps_cache()  # as `RunPython` does
    member = state.apps.get_model("shop", "member")
    order = state.apps.get_model("shop", "order")
    assert [relation.related_model for relation in member._meta.related_objects] == [order]
    assert order._meta.get_field("member").remote_field.model is member


def test_django_works_as_ever_when_migrations_are_over() -> None:
    before = ProjectState.add_model, ProjectState.add_field
    with rendered_alone():
        assert ProjectState.add_model is not before[0]
    assert (ProjectState.add_model, ProjectState.add_field) == before
