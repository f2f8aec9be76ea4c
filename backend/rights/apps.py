from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "backend.rights"
    label = "rights"
    verbose_name = "Data rights"
