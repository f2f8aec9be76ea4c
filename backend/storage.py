"""Where uploaded files lie: the file system, or S3 by `STORAGE_URL`."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

_FORM = "s3://bucket[/prefix][?endpoint=https://host[:port]&region=name]"


def storage_backend(url: str, *, directory: Path) -> dict[str, Any]:
    """Django's `STORAGES["default"]`.

    Args:
        url: `s3://bucket[/prefix][?endpoint=…&region=…]`; empty for `directory`. Credentials come
            from where boto3 looks for them: `AWS_ACCESS_KEY_ID`, a profile, the machine's role.

    Raises:
        ImproperlyConfigured: `url` has another form.
    """
    if not url:
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": directory},
        }
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme != "s3" or not parts.netloc or options.keys() - {"endpoint", "region"}:
        raise ImproperlyConfigured(f"STORAGE_URL must be {_FORM}, not {url!r}.")
    endpoint = options.get("endpoint")
    return {
        "BACKEND": "backend.object_storage.ObjectStorage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            "endpoint_url": endpoint,
            "region_name": options.get("region"),
            # Hosts of one's own seldom have a name for every bucket.
            "addressing_style": "path" if endpoint else "auto",
            "signature_version": "s3v4",
            "file_overwrite": False,
        },
    }
