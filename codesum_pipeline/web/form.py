"""The search form: what an address says of it, and what a tool is asked with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.datastructures import QueryParams

from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.retrieval.filters import WhichTests
from codesum_pipeline.web.rendering import address

_NAMES = {"query": "q", "levels": "level", "languages": "language", "paths": "path"}


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The fields as a person filled them; several languages or paths are parted by commas."""

    query: str = ""
    levels: tuple[str, ...] = ()
    repo: str = ""
    languages: str = ""
    paths: str = ""
    tests: str = WhichTests.IN.value
    cursor: str = ""

    @classmethod
    def of(cls, asked: QueryParams) -> "SearchForm":
        return cls(
            query=asked.get("q", "").strip(),
            levels=tuple(asked.getlist("level")),
            repo=asked.get("repo", ""),
            languages=", ".join(asked.getlist("language")),
            paths=", ".join(asked.getlist("path")),
            tests=asked.get("tests") or WhichTests.IN.value,
            cursor=asked.get("cursor", ""),
        )

    @property
    def has_more_filters(self) -> bool:
        """Whether one of those that are folded away is set."""
        return bool(self.languages or self.paths or self.tests != WhichTests.IN)

    @property
    def every_level(self) -> tuple[str, ...]:
        return tuple(level.value for level in LEVELS)

    @property
    def every_test(self) -> Mapping[str, str]:
        return {"in": "with tests", "out": "without tests", "only": "only tests"}

    def arguments(self) -> dict[str, Any]:
        """What `search` takes."""
        return {
            "query": self.query,
            "levels": list(self.levels),
            "repos": [self.repo] if self.repo else [],
            "languages": _parted(self.languages),
            "paths": _parted(self.paths),
            "tests": self.tests,
            "cursor": self.cursor,
        }

    def page_after(self, cursor: str) -> str:
        """The address of the hits behind these."""
        said = {_NAMES.get(name, name): value for name, value in asdict(self).items()}
        return address("/", **{**said, "tests": self.tests if self.tests != WhichTests.IN else "", "cursor": cursor})


def _parted(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
