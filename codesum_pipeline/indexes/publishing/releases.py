"""Which release of codesum may publish: none that is older than the newest that has published the repository.

Two releases may work for one home while a fleet is upgraded. An older one would write an index back that the newer one
makes anew, with each build; so it refuses to begin, and says so. Within a build the repository's lease keeps others
out, so what is decided at its beginning holds until it publishes.
"""

from msgspec import DecodeError, Struct, json
from packaging.version import InvalidVersion, Version

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import OlderRelease
from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION
from codesum_pipeline.indexes.file_formats.version_folder import INDEX_SCHEMA_VERSION

# Beside the versions: the newest release that published one.
NEWEST_RELEASE = "release.json"


class Release(Struct, frozen=True):
    """A release of codesum: its version, and those of the tables and of the index that it writes."""

    codesum: str = ""
    tables: int = 0
    index: int = 0

    def is_older_than(self, other: "Release") -> bool:
        """Whether it would write what the other one wrote in a newer form. Versions that are none do not count."""
        try:
            by_version = Version(self.codesum) < Version(other.codesum)
        except InvalidVersion:
            by_version = False
        return by_version or self.tables < other.tables or self.index < other.index


def this_release() -> Release:
    """The release that runs."""
    return Release(installed_version(), SCHEMA_VERSION, INDEX_SCHEMA_VERSION)


def refuse_older_release(layout: HomeLayout, key: str) -> None:
    """Raise `OlderRelease` where a newer release has published the repository. The caller holds its lease."""
    newest, own = _newest(layout, key), this_release()
    if own.is_older_than(newest):
        raise OlderRelease(
            f"repository {key!r} was published by codesum {newest.codesum} (tables {newest.tables}, index "
            f"{newest.index}), and this is codesum {own.codesum} (tables {own.tables}, index {own.index}): upgrade "
            f"codesum on this machine; to go back to this version for good: `codesum index {key} --rebuild --force`"
        )


def note_release(layout: HomeLayout, key: str) -> None:
    """Write down that this release publishes the repository."""
    own = this_release()
    if _newest(layout, key) != own:
        write_text_atomically(layout.versions(key) / NEWEST_RELEASE, json.encode(own).decode() + "\n")


def _newest(layout: HomeLayout, key: str) -> Release:
    """The least of all where nothing was published, or by a release that wrote nothing down."""
    try:
        return decode((layout.versions(key) / NEWEST_RELEASE).read_bytes(), Release)
    except (OSError, DecodeError):
        return Release()
