"""The pages: each calls tools and shows their answers by a template; and the search form."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, to_builtins
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.graph_subjects import EXTERNAL
from codesum_pipeline.answers.agent_tools.graph_tool import GraphPage
from codesum_pipeline.answers.agent_tools.grep_tool import GrepPage
from codesum_pipeline.answers.agent_tools.overview_tool import Folder, folder_tree, read_overview
from codesum_pipeline.answers.agent_tools.read_tool import DEFAULT_LINES, ReadPage
from codesum_pipeline.answers.agent_tools.relations import Relation
from codesum_pipeline.answers.agent_tools.search_tool import SearchPage, fits_of
from codesum_pipeline.answers.agent_tools.start_names import lines_beside
from codesum_pipeline.answers.agent_tools.status_tool import StatusPage
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.errors import BeingIndexed, CodesumError, MissingTable
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.shelf import WhichTests
from codesum_pipeline.ways_in.http_serving.audit_log import current_request
from codesum_pipeline.ways_in.web.figures import HEIGHT, WIDTH, cost_charts, evaluation_chart, history_of
from codesum_pipeline.ways_in.web.rendering import as_html, draw_diagram, link_to, respond_with

_NAMES = {"query": "q", "levels": "level", "languages": "language", "paths": "path"}


class SearchForm(Struct, frozen=True):
    """The fields as a person filled them; commas separate several languages or paths."""

    query: str = ""
    levels: tuple[str, ...] = ()
    repo: str = ""
    languages: str = ""
    paths: str = ""
    tests: str = WhichTests.IN.value
    mode: str = ""
    cursor: str = ""

    @classmethod
    def of(cls, query: QueryParams) -> "SearchForm":
        return cls(
            query=query.get("q", "").strip(),
            levels=tuple(query.getlist("level")),
            repo=query.get("repo", ""),
            languages=", ".join(query.getlist("language")),
            paths=", ".join(query.getlist("path")),
            tests=query.get("tests") or WhichTests.IN.value,
            mode=query.get("mode", ""),
            cursor=query.get("cursor", ""),
        )

    @property
    def has_more_filters(self) -> bool:
        """Whether one of the folded filters is set."""
        return bool(self.languages or self.paths or self.tests != WhichTests.IN)

    @property
    def every_level(self) -> tuple[str, ...]:
        return tuple(level.value for level in LEVELS)

    @property
    def every_test(self) -> Mapping[str, str]:
        return {"in": "with tests", "out": "without tests", "only": "only tests"}

    @property
    def every_mode(self) -> Mapping[str, str]:
        return {"": "by meaning", "text": "lines with this text", "pattern": "lines that match"}

    @property
    def is_for_lines(self) -> bool:
        """Whether the query is a text or a regular expression."""
        return self.mode in ("text", "pattern")

    def arguments(self) -> dict[str, Any]:
        """Those of `search`, or of `grep` for lines."""
        of_lines = {"pattern": self.query, "flags": "F" if self.mode == "text" else ""}
        return {
            **(of_lines if self.is_for_lines else {"query": self.query, "levels": list(self.levels)}),
            "repos": [self.repo] if self.repo else [],
            "languages": _split(self.languages),
            "paths": _split(self.paths),
            "tests": self.tests,
            "cursor": self.cursor,
        }

    def page_after(self, cursor: str) -> str:
        fields = {_NAMES.get(name, name): value for name, value in to_builtins(self).items()}
        return link_to("/", **{**fields, "tests": self.tests if self.tests != WhichTests.IN else "", "cursor": cursor})


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


HITS = "/hits"
# A page is bounded by rows, not by tokens.
_TOKENS = 50_000
_HITS = 20
_EXCERPT_LINES = 5
_RELATED = 8
_RELATED_ALONE = 100
_FOLDERS = 400
_PLACE = re.compile(r":(?P<line>\d{1,9})(?P<last>-\d{1,9})?$")
# For an index in the making: a browser asks again after so many seconds.
REFRESH = {"Refresh": "3"}

P = TypeVar("P", bound=AnswerPage)


class Pages(Struct, frozen=True):
    """The pages of one home, each made from the versions that are published at the time of the request. They are about
    all repositories; that of `folder`, where the server was started, is read as its work tree is."""

    catalogue: IndexCatalogue
    folder: Path

    def start(self, request: Request) -> Response:
        """The form with its hits; without a query, with the repositories."""
        form = SearchForm.of(request.query_params)
        # Checked before the page is made, since an index in the making may be complete by then.
        headers = REFRESH if isinstance(self._call().first_index(), BeingIndexed) else None
        return respond_with(
            "search.html",
            headers=headers,
            form=form,
            keys=self._keys(),
            languages=sorted(LANGUAGES),
            **self._found(form),
        )

    def hits(self, request: Request) -> Response:
        """The hits that the page's script shows while somebody types."""
        form = SearchForm.of(request.query_params)
        return respond_with("results.html", form=form, **self._found(form))

    def document(self, request: Request) -> Response:
        """One document: its place, facts, relations and lines."""
        query = request.query_params
        repo, id_, cursor = query.get("repo", ""), query.get("id", ""), query.get("cursor", "")
        call = self._call()
        read = self._read(call, id_, repo, cursor)
        item, notes = read.items[0], [*read.notes]
        relations = [*Relation, EXTERNAL]
        neighbours = self._ask(
            call, "graph", GraphPage, id=item.id, repo=item.repo, relations=relations, limit=_RELATED
        )
        groups = {group.relation: group for group in neighbours.groups}
        above = groups.pop(Relation.PART_OF, None)
        try:
            history = history_of(self.catalogue.layout, item.repo, item.id)
        except CodesumError as error:
            history, notes = None, [*notes, str(error)]
        return respond_with(
            "document.html",
            page=read,
            item=item,
            history=history,
            notes=notes,
            is_place=_PLACE.search(id_) is not None,
            above=list(reversed(above.rows)) if above else [],
            groups=list(groups.values()),
            not_counted=neighbours.not_counted,
        )

    def related(self, request: Request) -> Response:
        """The documents in one relation to a document, as many as fit on a page."""
        relation, *values = (request.query_params.get(name, "") for name in ("relation", "id", "repo", "cursor"))
        arguments = dict(zip(("id", "repo", "cursor"), values, strict=True))
        page = self._ask(self._call(), "graph", GraphPage, **arguments, relations=[relation], limit=_RELATED_ALONE)
        return respond_with("related.html", page=page, relation=relation)

    def repository(self, request: Request) -> Response:
        """A repository: its overview, the freshness of its index, its folders."""
        repo = request.query_params.get("repo", "")
        call = self._call()
        status = self._ask(call, "status", StatusPage, repos=[repo], changes=10)
        standing = next(iter(status.repositories), None)
        folders, folder_count = list[Folder](), 0
        overview, evaluations, costs = None, None, []
        if standing is not None and standing.commit:
            folders, folder_count = folder_tree(call, standing.repo, limit=_FOLDERS)
            overview = self._overview(call, call.index(standing.repo))
            try:
                evaluations = evaluation_chart(self.catalogue.layout, standing.repo)
                costs = cost_charts(self.catalogue.layout, standing.repo)
            except CodesumError as error:
                call.tell(str(error))
        return respond_with(
            "repository.html",
            page=status,
            notes=call.notes,
            standing=standing,
            changes=status.changes,
            folders=folders,
            folder_count=folder_count,
            overview=overview,
            evaluations=evaluations,
            costs=costs,
            chart_width=WIDTH,
            chart_height=HEIGHT,
        )

    def _read(self, call: ToolContext, id_: str, repo: str, cursor: str) -> ReadPage:
        """A document, or the lines around a place; a long document begins at the wanted line."""
        arguments = {"repo": repo, "cursor": cursor, "limit": 1}
        found = self._ask(call, "read", ReadPage, **arguments, ids=[id_], parts="source")
        if not cursor and not _PLACE.search(id_):
            told = self._ask(call, "read", ReadPage, repo=repo, ids=[id_], parts="summary")
            found.items[0].facts = {**told.items[0].facts, **found.items[0].facts}
        place, last = _PLACE.search(id_), found.items[0].last_line
        if place is None or place["last"] or last is None or int(place["line"]) <= last:
            return found
        first = int(place["line"])
        return self._ask(call, "read", ReadPage, **arguments, ids=[f"{id_}-{first + DEFAULT_LINES - 1}"])

    def _found(self, form: SearchForm) -> Mapping[str, Any]:
        call = self._call()
        if not form.query:
            status = self._ask(call, "status", StatusPage, limit=200, changes=0)
            return {"found": None, "status": status, "beside": {}}
        if form.is_for_lines:
            lines = self._ask(call, "grep", GrepPage, **form.arguments(), limit=_HITS)
            several = not form.repo and len(self._keys()) > 1
            return {"found": lines, "status": None, "beside": {}, "has_several": several}
        found = self._ask(call, "search", SearchPage, **form.arguments(), limit=_HITS, excerpt=_EXCERPT_LINES)
        beside = lines_beside(call, ((hit.repo, hit.id) for hit in found.hits))
        return {"found": found, "status": None, "beside": beside}

    def _overview(self, call: ToolContext, index: PublishedIndex) -> str | None:
        """The overview as safe HTML; None, with a note, before the first build."""

        def link(path: str, place: str) -> str | None:
            row = index.row(path.rstrip("/"))
            return None if row is None else link_to("/document", repo=index.repo, id=place)

        if self.catalogue.hidden_folders(index.repo):
            return None
        try:
            row = read_overview(self.catalogue.layout, index.repo)
        except MissingTable as error:
            call.tell(str(error))
            return None
        if row["commit"] != index.commit:
            call.tell("the overview is of another commit than the index: the next build writes it anew")
        # The first heading is the repository's name, which the page has already.
        _, _, text = row["page"].partition("\n")
        return as_html(text, link, draw_diagram)

    def _keys(self) -> list[str]:
        return [entry.key for entry in self.catalogue.entries(lambda _: None)]

    def _call(self) -> ToolContext:
        return ToolContext(self.catalogue, self.folder, is_everywhere=True)

    def _ask(self, call: ToolContext, tool: str, page: type[P], **arguments: Any) -> P:
        answer = tools_by_name()[tool].ask(call, {**arguments, "tokens": _TOKENS})
        if not isinstance(answer, page):
            raise TypeError(f"{tool} answered with {type(answer).__name__}")
        current_request().answered((each.repo for each in answer.as_of), answer.shown, fits=fits_of(answer))
        return answer
