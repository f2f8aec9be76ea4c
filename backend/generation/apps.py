from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "backend.generation"
    default_auto_field = "django.db.models.BigAutoField"
