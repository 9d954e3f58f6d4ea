"""Each page: what is asked of the tools for it, and the template that shows their answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from codesum_pipeline.model.errors import BeingIndexed, CodesumError, MissingTable
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.serving.audit import request_of_now
from codesum_pipeline.source.languages import LANGUAGES
from codesum_pipeline.tools.answers import AnswerPage
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.catalogue import IndexCatalogue, Tell
from codesum_pipeline.tools.facts import read_overview
from codesum_pipeline.tools.graph import EXTERNAL, GraphPage
from codesum_pipeline.tools.overview import TreeArguments, folder_tree
from codesum_pipeline.tools.read import DEFAULT_LINES, ReadItem, ReadPage
from codesum_pipeline.tools.registry import tools_by_name
from codesum_pipeline.tools.relations import Relation
from codesum_pipeline.tools.search import SearchPage
from codesum_pipeline.tools.status import StatusPage
from codesum_pipeline.web.charts import HEIGHT, WIDTH
from codesum_pipeline.web.diagram import draw
from codesum_pipeline.web.figures import cost_charts, evaluation_chart
from codesum_pipeline.web.form import SearchForm
from codesum_pipeline.web.history import TextHistory, history_of
from codesum_pipeline.web.markdown import as_html
from codesum_pipeline.web.rendering import address, render

HITS = "/hits"
# What a screen shows is bounded by its rows, not by what a model can read.
_TOKENS = 50_000
_HITS = 20
_EXCERPT_LINES = 5
_RELATED = 8
_RELATED_ALONE = 100
_FOLDERS = 400
_PLACE = re.compile(r":(?P<line>\d{1,9})(?P<last>-\d{1,9})?$")
# For what is not there yet: a browser asks again after so many seconds.
REFRESH = {"Refresh": "3"}

P = TypeVar("P", bound=AnswerPage)


@dataclass(frozen=True)
class Pages:
    """The pages of one home. Each is made from the versions that are published when it is asked for.

    All repositories are asked; that of `folder`, where the server was started, as its work tree is now.
    """

    catalogue: IndexCatalogue
    folder: Path

    def start(self, request: Request) -> Response:
        """The form with its hits; without a question, which repositories there are."""
        form = SearchForm.of(request.query_params)
        keys = [entry.key for entry in self.catalogue.entries(lambda _: None)]
        # Asked before the page is made: what it says of an index in the making is not its last word.
        headers = REFRESH if isinstance(self._call().first_index(), BeingIndexed) else None
        return HTMLResponse(
            render("search.html", form=form, keys=keys, languages=sorted(LANGUAGES), **self._found(form)),
            headers=headers,
        )

    def hits(self, request: Request) -> Response:
        """What the page's script puts in while somebody types."""
        form = SearchForm.of(request.query_params)
        return HTMLResponse(render("results.html", form=form, **self._found(form)))

    def document(self, request: Request) -> Response:
        """One document: where it stands, what is said of it, what belongs to it, its lines."""
        asked = request.query_params
        repo, id_, cursor = asked.get("repo", ""), asked.get("id", ""), asked.get("cursor", "")
        call = self._call()
        read = self._read(call, id_, repo, cursor)
        item, notes = read.items[0], [*read.notes]
        around = self._ask(
            call,
            "graph",
            GraphPage,
            {
                "id": item.id,
                "repo": item.repo,
                "relations": [*Relation, EXTERNAL],
                "limit": _RELATED,
                "tokens": _TOKENS,
            },
        )
        groups = {group.relation: group for group in around.groups}
        above = groups.pop(Relation.PART_OF, None)
        return HTMLResponse(
            render(
                "document.html",
                page=read,
                item=item,
                history=self._history(item, notes.append),
                notes=notes,
                is_place=_PLACE.search(id_) is not None,
                above=list(reversed(above.rows)) if above else [],
                groups=list(groups.values()),
            )
        )

    def related(self, request: Request) -> Response:
        """All documents in one relation to one, as far as they fit on a page."""
        asked = request.query_params
        relation = asked.get("relation", "")
        page = self._ask(
            self._call(),
            "graph",
            GraphPage,
            {
                "id": asked.get("id", ""),
                "repo": asked.get("repo", ""),
                "relations": [relation],
                "cursor": asked.get("cursor", ""),
                "limit": _RELATED_ALONE,
                "tokens": _TOKENS,
            },
        )
        return HTMLResponse(render("related.html", page=page, relation=relation))

    def repository(self, request: Request) -> Response:
        """What a repository is, how fresh its index is, its folders."""
        repo = request.query_params.get("repo", "")
        call = self._call()
        status = self._ask(call, "status", StatusPage, {"repos": [repo], "changes": 10})
        standing = next(iter(status.repositories), None)
        tree, overview, evaluations, costs = None, None, None, []
        if standing is not None and standing.commit:
            tree = folder_tree(call, TreeArguments(repo=standing.repo, limit=_FOLDERS))
            overview = self._overview(call, call.index(standing.repo))
            try:
                evaluations = evaluation_chart(self.catalogue.layout, standing.repo)
                costs = cost_charts(self.catalogue.layout, standing.repo)
            except CodesumError as error:
                call.tell(str(error))
        return HTMLResponse(
            render(
                "repository.html",
                page=tree or status,
                notes=call.notes,
                standing=standing,
                changes=status.changes,
                tree=tree,
                overview=overview,
                evaluations=evaluations,
                costs=costs,
                chart_width=WIDTH,
                chart_height=HEIGHT,
            )
        )

    def _read(self, call: ToolContext, id_: str, repo: str, cursor: str) -> ReadPage:
        """A document, or the lines around a place; of a long document those from the line on that is asked for."""
        asked = {"repo": repo, "cursor": cursor, "limit": 1, "tokens": _TOKENS}
        found = self._ask(call, "read", ReadPage, {**asked, "ids": [id_]})
        place, last = _PLACE.search(id_), found.items[0].last_line
        if place is None or place["last"] or last is None or int(place["line"]) <= last:
            return found
        first = int(place["line"])
        return self._ask(call, "read", ReadPage, {**asked, "ids": [f"{id_}-{first + DEFAULT_LINES - 1}"]})

    def _history(self, item: ReadItem, tell: Tell) -> TextHistory | None:
        """None where it cannot be read, which is told."""
        try:
            return history_of(self.catalogue.layout, item.repo, item.id)
        except CodesumError as error:
            tell(str(error))
            return None

    def _found(self, form: SearchForm) -> Mapping[str, Any]:
        """For the part below the form."""
        call = self._call()
        if not form.query:
            return {"found": None, "status": self._ask(call, "status", StatusPage, {"limit": 200, "changes": 0})}
        asked = {**form.arguments(), "limit": _HITS, "tokens": _TOKENS, "excerpt": _EXCERPT_LINES}
        return {"found": self._ask(call, "search", SearchPage, asked), "status": None}

    def _overview(self, call: ToolContext, index: PublishedIndex) -> str | None:
        """The page that the build wrote as HTML of ours; None where it did not yet."""

        def link(path: str, place: str) -> str | None:
            row = index.row(path.rstrip("/"))
            return None if row is None else address("/document", repo=index.repo, id=place)

        try:
            row = read_overview(self.catalogue.layout, index.repo)
        except MissingTable as error:
            call.tell(str(error))
            return None
        if row["commit"] != index.commit:
            call.tell("the overview is of another commit than the index: the next build writes it anew")
        # Its first heading is the repository's name, which is that of the page, too.
        _, _, text = row["page"].partition("\n")
        return as_html(text, link, draw)

    def _call(self) -> ToolContext:
        return ToolContext(self.catalogue, self.folder, is_everywhere=True)

    def _ask(self, call: ToolContext, tool: str, page: type[P], arguments: Mapping[str, Any]) -> P:
        """The answer of a tool, which is a page of this type."""
        answer = tools_by_name()[tool].ask(call, arguments)
        if not isinstance(answer, page):
            raise TypeError(f"{tool} answered with {type(answer).__name__}")
        request_of_now().answered((each.repo for each in answer.as_of), answer.shown)
        return answer
