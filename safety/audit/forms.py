"""The form that writes a policy version: a preset, and what differs from it by category."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from safety.audit.models import SafetyPolicy
from safety.judge.policy import PRESETS, InvalidPolicy, Policy
from safety.score.personal_data import KINDS
from safety.taxonomy import Category
from safety.types import Action

_ACTIONS = [("", "as the preset")] + [(str(a), str(a)) for a in Action if a is not Action.REDACT]


class PolicyForm(forms.ModelForm):
    """Reads and writes `document`; an empty field means what the preset says."""

    preset = forms.ChoiceField(
        choices=[(name, name) for name in PRESETS],
        initial="standard",
        widget=UnfoldAdminSelectWidget,
        help_text="Strict blocks from lower scores and redacts more; relaxed the other way.",
    )
    dry_run = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Decide and record, but stop nothing.",
    )
    redact = forms.MultipleChoiceField(
        required=False,
        choices=[(kind, kind.replace("_", " ")) for kind in KINDS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Personal data replaced in answers. None chosen: as the preset.",
    )
    allow_hashes = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget,
        help_text="SHA-256 of prompts that trusted research may send, one a line.",
    )
    trusted_keys = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget,
        help_text="Ids of API keys of trusted research, one a line: flagged, not stopped.",
    )
    store_text_days = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=365,
        initial=0,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Days for which texts that something was found in are retained, encrypted."
        " 0 retains their hash only.",
    )

    class Meta:
        model = SafetyPolicy
        fields = ("organization", "model", "comment", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for category in Category:
            label = category.replace("_", " ")
            self.fields[f"action_{category}"] = forms.ChoiceField(
                required=False,
                choices=_ACTIONS,
                label=f"{label}: action",
                widget=UnfoldAdminSelectWidget,
            )
            self.fields[f"threshold_{category}"] = forms.DecimalField(
                required=False,
                min_value=0,
                max_value=1,
                label=f"{label}: threshold",
                widget=UnfoldAdminDecimalFieldWidget,
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        document = self._document(cleaned)
        try:
            Policy.from_dict({**document, "version": "check"})
        except InvalidPolicy as error:
            raise forms.ValidationError(str(error)) from error
        cleaned["document"] = document
        return cleaned

    @staticmethod
    def _document(cleaned: dict[str, Any]) -> dict[str, Any]:
        document = PRESETS[cleaned.get("preset") or "standard"].as_dict()
        del document["version"]
        for category in Category:
            if action := cleaned.get(f"action_{category}"):
                document["actions"][str(category)] = action
            if (threshold := cleaned.get(f"threshold_{category}")) is not None:
                document["thresholds"][str(category)] = float(threshold)
        if cleaned.get("redact"):
            document["redact"] = sorted(cleaned["redact"])
        document["dry_run"] = bool(cleaned.get("dry_run"))
        document["allow_hashes"] = (cleaned.get("allow_hashes") or "").split()
        document["trusted_keys"] = (cleaned.get("trusted_keys") or "").split()
        document["store_text_days"] = cleaned.get("store_text_days") or 0
        return document
