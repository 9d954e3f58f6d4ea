"""The documents of a repository as columns, with their ranks: values are made of those alone that are asked for."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level, PurposeSource
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.texts.summaries.purposes import Purpose, purpose_of

Rows = npt.NDArray[np.int64]


class RankedDocument(Struct, frozen=True, gc=False):
    """One document: its place, its text, its share of the graph's PageRank, and where its text's purpose is from."""

    id: str
    level: str
    path: str
    line: int
    text: str
    rank: float
    community: int | None
    is_public: bool
    purpose_source: str | None = None
    is_placeholder: bool = False

    @property
    def name(self) -> str:
        """Its own name, without the folder or the definition around it."""
        return own_name(self.id) if SEPARATOR in self.id else self.id.rpartition("/")[2]

    @property
    def summary(self) -> str:
        """Its text, unless that is a template."""
        return "" if self.is_placeholder else self.text

    @property
    def purpose(self) -> Purpose | None:
        """What its text opens with; to find where a sentence ends takes longer than all else that is asked of one."""
        document = {"type": self.level, "summary": self.text, "is_placeholder": self.is_placeholder}
        return purpose_of(document | {"purpose_source": self.purpose_source})


class RankedDocuments(Struct, dict=True, eq=False):
    """Documents in the order of their ids, and the `sources` whose definitions are looked at together."""

    rows: pa.Table
    sources: Sequence[str]

    @classmethod
    def of(cls, documents: Iterable[RankedDocument], sources: Sequence[str]) -> Self:
        """The same from values."""
        return cls(to_table(sorted(documents, key=lambda each: each.id), RankedDocument), sources)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of the row of each id."""
        return dict(zip(self.rows.column("id").to_pylist(), range(len(self.rows)), strict=True))

    def __contains__(self, id_: object) -> bool:
        return id_ in self.numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def get(self, id_: str) -> RankedDocument | None:
        """The document with an id."""
        number = self.numbers.get(id_)
        return None if number is None else self.at([number])[0]

    def at(self, rows: Sequence[int] | Rows) -> list[RankedDocument]:
        """The documents with these numbers."""
        return from_table(self.rows.take(pa.array(rows, pa.int64())), RankedDocument)

    def in_sources(self) -> pa.Table:
        """The rows of `sources`, and of all that is in them."""
        return self.rows.filter(pa.array(self._files >= 0))

    @cached_property
    def _files(self) -> Rows:
        """The number of the source that each document is in, -1 for none."""
        sources = pa.array(self.sources, pa.string())
        return _numbers(pc.index_in(self.rows.column("path"), value_set=sources))

    @cached_property
    def _defined(self) -> tuple[Rows, Rows]:
        """The rows of functions and classes by their sources, and where those of each source begin among them."""
        is_one = pc.match_substring(self.rows.column("id"), SEPARATOR).to_numpy() & (self._files >= 0)
        rows = np.flatnonzero(is_one)
        ordered = rows[np.argsort(self._files[rows], kind="stable")]
        return ordered, np.searchsorted(self._files[ordered], np.arange(len(self.sources) + 1))

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many functions and classes each source defines."""
        return dict(zip(self.sources, np.diff(self._defined[1]).tolist(), strict=True))

    @cached_property
    def _places_of(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self.sources)}

    def rows_in(self, paths: Collection[str]) -> Rows:
        """The rows of what some files define."""
        rows, starts = self._defined
        places = (self._places_of[path] for path in paths if path in self._places_of)
        return np.concatenate([rows[:0], *(rows[starts[place] : starts[place + 1]] for place in places)])

    def defined_in(self, path: str) -> list[RankedDocument]:
        """What a file defines, in the order of the ids."""
        return self.at(self.rows_in([path]))

    @cached_property
    def ranks(self) -> npt.NDArray[np.float64]:
        """The PageRank of each source and of all definitions in it together."""
        rows, rank = self._defined[0], self.rows.column("rank").to_numpy()
        inside = np.bincount(self._files[rows], weights=rank[rows], minlength=len(self.sources))
        own = [self.numbers.get(path) for path in self.sources]
        found: npt.NDArray[np.float64] = np.array([0.0 if row is None else rank[row] for row in own]) + inside
        return found

    @cached_property
    def _used(self) -> npt.NDArray[np.float64]:
        """The ranks of documents, those of members added to their classes'."""
        ids, rank = self.rows.column("id"), self.rows.column("rank").to_numpy()
        used: npt.NDArray[np.float64] = rank.copy()
        rows, around = np.arange(len(self.rows)), ids
        while True:
            # Of files nobody asks.
            is_member = pc.greater(pc.count_substring(around, SEPARATOR), 1)
            rows, around = rows[is_member.to_numpy()], around.filter(is_member)
            if not len(rows):
                return used
            around = pc.list_element(pc.split_pattern(around, SEPARATOR, max_splits=1, reverse=True), 0)
            places = _numbers(pc.index_in(around, value_set=ids.combine_chunks()))
            is_there = places >= 0
            used += np.bincount(places[is_there], weights=rank[rows[is_there]], minlength=len(used))

    def telling_first(self, rows: Rows) -> Rows:
        """Definitions in the order in which they tell what their files are about: public ones, those that somebody
        described before others, classes and free functions before methods, most used first."""
        found = self.rows.take(pa.array(rows))
        is_member = pc.and_(
            pc.equal(found.column("level"), str(Level.FUNCTION)),
            pc.greater(pc.count_substring(found.column("id"), SEPARATOR), 1),
        )
        is_named = pc.fill_null(pc.equal(found.column("purpose_source"), str(PurposeSource.NAME)), False)
        is_by_name = pc.and_(is_named, pc.invert(found.column("is_placeholder")))
        is_hidden = pc.invert(found.column("is_public"))
        # The last key counts most.
        keys = (each.to_numpy() for each in (is_member, is_by_name, is_hidden))
        return rows[np.lexsort((rows, -self._used[rows], *keys))]


def _numbers(column: pa.ChunkedArray) -> Rows:
    found: Rows = pc.fill_null(column, -1).to_numpy().astype(np.int64)
    return found
