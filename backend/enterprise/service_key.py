"""The installation's key for SAML: it signs what we send to providers, which know its certificate
from our metadata. Made when it is first needed, the same for all processes from then on."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from backend.enterprise.models import ServiceKey
from backend.platform.encryption import decrypt, encrypt
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column

# Providers compare the certificate and do not look at its dates; replacing it means to set up
# every provider anew.
_LIFE = timedelta(days=20 * 365)
_ONLY = 1


@dataclass(frozen=True, slots=True)
class Key:
    """Both in PEM."""

    private_key: str = field(repr=False)
    certificate: str


def service_key() -> Key:
    """The key, made now if there is none."""
    row = ServiceKey.objects.filter(pk=_ONLY).first()
    if row is None:
        made = _new_key()
        sealed = encrypt(made.private_key, purpose=Purpose.SSO_SERVICE_KEY, context=(_ONLY,))
        row, _ = ServiceKey.objects.get_or_create(
            pk=_ONLY, defaults={"encrypted_key": sealed, "certificate": made.certificate}
        )
    opened = decrypt(row.encrypted_key, purpose=Purpose.SSO_SERVICE_KEY, context=(_ONLY,))
    return Key(opened, row.certificate)


def _new_key() -> Key:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Parley")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFE)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Key(private.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode())


COLUMN = encrypted_column(
    label="the key that signs for identity providers",
    model="enterprise.ServiceKey",
    field="encrypted_key",
    purpose=Purpose.SSO_SERVICE_KEY,
    context=("pk",),
)
