"""Certificates of authorities that this process and those it starts trust, in place of the system's.

Each library has a variable of its own for them. The file is checked before the first connection: what a library says of
one that is missing names neither the file nor the setting.
"""

import os
import ssl
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError

# Python's ssl, and with it httpx, aiohttp and smtplib; codesum gives the same file to the client of buckets.
CERTIFICATES_VARIABLE = "SSL_CERT_FILE"
# git and the library requests.
_OTHERS = ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE")


def trust_certificates(file: Path) -> None:
    """Trust what a file of certificates in PEM names; raises `ConfigurationError` for one that cannot be used."""
    chosen = f"ca_bundle {str(file)!r}"
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=file)
    except ssl.SSLError as error:
        raise ConfigurationError(f"{chosen}: it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)") from error
    except OSError as error:
        raise ConfigurationError(f"{chosen}: it cannot be read: {error.strerror}") from error
    for name in (CERTIFICATES_VARIABLE, *_OTHERS):
        os.environ[name] = str(file.absolute())
