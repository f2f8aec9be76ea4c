from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "backend.conversations"
    label = "conversations"
    default_auto_field = "django.db.models.BigAutoField"
