"""What allauth's second factors ask of the product."""

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter

from backend.accounts.encryption import seed_decrypt, seed_encrypt
from backend.accounts.passkey_domain import relying_party


class MFAAdapter(DefaultMFAAdapter):
    """Seeds of second factors are encrypted at rest; passkeys belong to a domain of ours."""

    def encrypt(self, text: str) -> str:
        return seed_encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return seed_decrypt(encrypted_text)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": relying_party(context.request.get_host()), "name": self._get_site_name()}

    def _get_site_name(self) -> str:
        return "Parley"
