"""The file with the names of commands, routes and programs, for readers who wait for no tables."""

from collections.abc import Mapping

from msgspec import Struct

from codesum_pipeline.foundation.store.atomic import read_json, write_json_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout


class PublishedStarts(Struct, frozen=True):
    """The names by the document that they start: `{"shop/cli.py::pay": ["command pay"]}`, as of one published version.

    A build replaces the file after the version, so a reader compares `commit` and `content_digest`.
    """

    commit: str
    content_digest: str
    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, layout: HomeLayout, key: str) -> "PublishedStarts | None":
        """What the last build wrote of a repository; None where there is no file that can be read."""
        return read_json(layout.start_names(key), cls)

    def write(self, layout: HomeLayout, key: str) -> None:
        write_json_atomically(layout.start_names(key), self)
