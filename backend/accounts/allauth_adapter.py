"""What allauth's second factors ask of the product."""

from allauth.mfa.adapter import DefaultMFAAdapter

from backend.accounts.encryption import seed_decrypt, seed_encrypt


class MFAAdapter(DefaultMFAAdapter):
    """Seeds of second factors are encrypted at rest."""

    def encrypt(self, text: str) -> str:
        return seed_encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return seed_decrypt(encrypted_text)

    def _get_site_name(self) -> str:
        return "Parley"
