"""The objects of one bucket, below one prefix: what a home in a bucket is kept in.

One thin adapter over obstore. Besides plain reads and writes it promises two conditional ones, which each store does
atomically: `create` succeeds for one of those who try, and `swap` only for whoever names the present object's tag.

A write whose answer is lost may have been done. Before a conditional write fails, the object is read back: where it
holds the very bytes that were sent, the write was done. So what is sent must be the writer's own, as by a nonce.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import (
    AlreadyThere,
    BucketRefused,
    BucketUnavailable,
    ConfigurationError,
    Superseded,
)
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.settings.certificates import CERTIFICATES_VARIABLE
from codesum_pipeline.foundation.store.atomic import replace_durably

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore

# How long a request is tried again where a server answers 5xx, or does not answer.
RETRY_S = 60.0
# The time is what bounds them.
_RETRIES = 1000
_SLOWEST_RETRY_S = 5.0
_REQUEST_S = 60.0
# What S3 deletes with one request.
_DELETED_AT_ONCE = 1000
_STREAMED_BYTES = 1 << 20
# Characters of a store's message that are shown.
_MOST_SHOWN = 300
# Schemes of obstore that can write on a condition.
SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "memory")


class StoredObject(Struct, frozen=True):
    """The content of an object. `etag` is opaque: it is what `swap` wants; `modified` is by the bucket's clock."""

    data: bytes
    etag: str
    modified: datetime


class ObjectInfo(Struct, frozen=True):
    """An object as a listing describes it."""

    name: str
    size: int
    etag: str
    modified: datetime


class Objects(Struct, frozen=True):
    """The objects below one URL, such as `s3://bucket/prefix`. For many threads; not to be used across a fork.

    Every method raises `BucketUnavailable` if the bucket cannot be reached
    now, and `BucketRefused` where it is missing or refuses the credentials.
    """

    url: str
    _store: "ObjectStore"

    def read(self, name: str, start: int, stop: int) -> bytes | None:
        """Some bytes of an object, fewer where it ends before `stop`; None if there is none."""
        import obstore
        from obstore.exceptions import GenericError

        with suppress(FileNotFoundError), self._asking("get", name):
            try:
                return bytes(obstore.get(self._store, name, options={"range": (start, stop)}).bytes())
            except GenericError as error:
                if not _BEHIND_END.search(str(error)):
                    raise
                return b""
        return None

    def get(self, name: str) -> StoredObject | None:
        """The object; None if there is none."""
        import obstore

        with suppress(FileNotFoundError), self._asking("get", name):
            found = obstore.get(self._store, name)
            return StoredObject(bytes(found.bytes()), _tag(found.meta), found.meta["last_modified"])
        return None

    def create(self, name: str, data: bytes) -> str:
        """Write an object that is not there yet, and return its tag; raises `AlreadyThere`."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        refused = (AlreadyExistsError, PreconditionError)
        return self._put_if(name, data, "create", refused, AlreadyThere(f"{self._where(name)} is there already"))

    def swap(self, name: str, data: bytes, *, etag: str) -> str:
        """Replace the object that has this tag, and return the new tag; raises `Superseded` if it has another."""
        from obstore.exceptions import NotFoundError, PreconditionError

        tag, _, version = etag.partition("\n")
        mode = {"e_tag": tag, **({"version": version} if version else {})}
        superseded = Superseded(f"{self._where(name)} was replaced by somebody else meanwhile")
        return self._put_if(name, data, mode, (PreconditionError, FileNotFoundError, NotFoundError), superseded)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there, with one request."""
        import obstore

        with self._asking("put", name):
            obstore.put(self._store, name, data, use_multipart=False)

    def download(self, name: str, path: Path) -> bool:
        """Replace a file by the object; False, and nothing is written, where there is none."""
        import obstore

        with self._asking("get", name):
            try:
                found = obstore.get(self._store, name)
            except FileNotFoundError as error:
                self._check_bucket(error)
                return False
            with replace_durably(path) as file:
                for some in found.stream(min_chunk_size=_STREAMED_BYTES):
                    file.write(some)
        return True

    def infos(self, prefix: str) -> Iterator[ObjectInfo]:
        """The objects whose names begin with `prefix`, which ends with a slash, by name."""
        import obstore

        with self._asking("list", prefix):
            for some in obstore.list(self._store, prefix.rstrip("/")):
                for found in some:
                    yield ObjectInfo(found["path"], found["size"], _tag(found), found["last_modified"])

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that are gone already are no error."""
        import obstore

        wanted = list(names)
        for some in (wanted[at : at + _DELETED_AT_ONCE] for at in range(0, len(wanted), _DELETED_AT_ONCE)):
            try:
                with self._asking("delete", some[0]):
                    obstore.delete(self._store, some)
            except FileNotFoundError:
                for name in some if len(some) > 1 else ():
                    self.delete([name])

    def _put_if(
        self, name: str, data: bytes, mode: Any, refused: tuple[type[Exception], ...], conflict: Exception
    ) -> str:
        import obstore

        try:
            with self._asking("put", name):
                try:
                    return _tag(obstore.put(self._store, name, data, mode=mode))
                except refused as error:
                    if isinstance(error, FileNotFoundError):
                        self._check_bucket(error)
                    raise conflict from None
        except (BucketUnavailable, AlreadyThere, Superseded):
            found = self.get(name)
            if found and found.data == data:
                return found.etag
            raise

    @contextmanager
    def _asking(self, kind: str, name: str) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError as error:
            self._check_bucket(error)
            raise
        except BaseError as error:
            # Whatever fails in a listing is a plain error, which says why in its text alone.
            self._check_bucket(error)
            if isinstance(error, (PermissionDeniedError, UnauthenticatedError)) or _REFUSED.search(_first_line(error)):
                raise BucketRefused(
                    f"{self._where(name)}: the bucket refuses this {kind}: no or wrong credentials: check those in the "
                    "environment, and that they allow to read, write, list and delete below the home; it says: "
                    f"{_short(error)}"
                ) from None
            raise BucketUnavailable(
                f"{self._where(name)}: the bucket cannot be reached now: try again later; if it stays so, check the "
                f"endpoint and the network: {_short(error)}"
            ) from None

    def _where(self, name: str) -> str:
        return f"{self.url.rstrip('/')}/{name}"

    def _check_bucket(self, error: Exception) -> None:
        if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
            raise BucketRefused(f"{self.url}: there is no such bucket: create it, or name another home") from None


_REFUSED = re.compile(r"status code: 40[13]\b")
_BEHIND_END = re.compile(r"status code: 416\b|Invalid range")
_in_memory: dict[str, "ObjectStore"] = {}


def open_objects(url: str, *, retry_s: float = RETRY_S) -> Objects:
    """The objects below a URL; nothing is asked of the bucket yet. Raises `ConfigurationError`.

    Endpoint and credentials come from the store's usual environment variables, as `AWS_ENDPOINT_URL`. Each `memory://`
    URL is one store of this process.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        raise ConfigurationError(f"home {url.partition('?')[0]!r}: no kind of bucket; known are {', '.join(SCHEMES)}")
    if "@" in rest or "?" in rest or "#" in rest:
        raise ConfigurationError(f"home {scheme}://…: a bucket's URL holds no credentials: they are in the environment")
    if find_spec("obstore") is None:
        raise ConfigurationError(
            f"home {url!r}: obstore, which reads buckets, is not installed: {way_to_install('buckets')}"
        )
    if scheme == "memory":
        from obstore.store import MemoryStore

        return Objects(url, _in_memory.setdefault(url, MemoryStore()))
    return Objects(url, _open_store(url, retry_s))


def _open_store(url: str, retry_s: float) -> "ObjectStore":
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    try:
        return from_url(
            url,
            # Servers on loopback, and others in a private network, speak plain HTTP; the endpoint's scheme decides.
            client_options={"allow_http": True, "timeout": timedelta(seconds=_REQUEST_S), **_own_certificates()},
            retry_config={
                "max_retries": _RETRIES if retry_s else 0,
                "retry_timeout": timedelta(seconds=retry_s),
                "backoff": {"max_backoff": timedelta(seconds=min(_SLOWEST_RETRY_S, max(retry_s, 0.1)))},
            },
        )
    except (BaseError, ValueError) as error:
        raise ConfigurationError(
            f"home {url!r}: no bucket can be opened: check its address, and what the environment says of it: "
            f"{_short(error)}"
        ) from None


def _own_certificates() -> "ClientConfig":
    """The client of buckets reads no variable: it is given what the process trusts."""
    if not (file := os.environ.get(CERTIFICATES_VARIABLE)):
        return {}
    try:
        return {"root_certificate": Path(file).read_bytes()}
    except OSError as error:
        raise ConfigurationError(f"{CERTIFICATES_VARIABLE}={file}: it cannot be read: {error.strerror}") from error


def _tag(meta: Mapping[str, Any]) -> str:
    """What identifies one version of an object: a tag, and in some stores also a version."""
    return f"{meta.get('e_tag') or ''}\n{meta['version']}" if meta.get("version") else meta.get("e_tag") or ""


def _short(error: Exception) -> str:
    """Where and why, without a query, which may be signed, and without the body of the answer but for its code."""
    line, _, _body = re.sub(r"\?\S*|, max_retries: [^-]{0,200}+(?= -)", "", _first_line(error)).partition(": <")
    code = re.search(r"<Code>(\w+)</Code>", str(error))
    return f"{line[:_MOST_SHOWN].rstrip(': ')}{f', {code[1]}' if code else ''}"


def _first_line(error: Exception) -> str:
    """The rest is headers and the whole answer."""
    return str(error).partition("\n")[0]
