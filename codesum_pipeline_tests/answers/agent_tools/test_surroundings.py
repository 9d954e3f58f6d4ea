from pathlib import Path

from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import join_uses
from codesum_pipeline.answers.agent_tools.surroundings import DocumentRelations, RelatedDocument, surroundings_of
from codesum_pipeline.foundation.data_model.document import SummaryDocument
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace, publish

TOTAL_PRICE = "shop/cart.py::total_price"
AUTHENTICATE = "shop/auth.py::LoginHandler::authenticate"


def folder(path: str) -> RelatedDocument:
    return RelatedDocument(path, "module", f"Holds what belongs to {path}.")


def file(path: str) -> RelatedDocument:
    return RelatedDocument(path, "file", f"Holds what belongs to {path}.")


def test_parents_children_callers_and_callees_are_told_with_what_they_are_for(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    used = {TOTAL_PRICE: {"called_by": (AUTHENTICATE,), "dependencies": ("math.fsum", "shop/auth.py::LoginHandler")}}
    used |= {AUTHENTICATE: {"calls": (TOTAL_PRICE,)}}
    documents = [
        replace(row, **used.get(row.id, {}))
        for row in workspace.tables.read_rows("documents", workspace.key, SummaryDocument)
    ]
    workspace.tables.write_rows("documents", workspace.key, documents, SummaryDocument)
    publish(workspace)
    index = PublishedIndex.open(workspace.layout.published("shop"))
    joined = JoinedDocuments.of(
        [index], join_uses([index], SourceReader(IndexCatalogue.of(workspace.settings), [index], print))
    )

    def around(id_: str) -> DocumentRelations:
        row = index.row(id_)
        assert row is not None
        return surroundings_of(joined, row)

    authenticate = RelatedDocument(AUTHENTICATE, "function", "Compare the password hash and open a session.")
    total_price = RelatedDocument(TOTAL_PRICE, "function", "Sum the prices of all articles with tax.")
    handler = RelatedDocument("shop/auth.py::LoginHandler", "class", "Checks who a customer is.")
    assert around(TOTAL_PRICE) == DocumentRelations(
        parents=(file("shop/cart.py"), folder("shop"), folder(".")),
        children=(),
        called_by=(authenticate,),
        referenced_by=(),
        calls=(),
        dependencies=("math.fsum", "shop/auth.py::LoginHandler"),
    )
    assert around(AUTHENTICATE).parents == (handler, file("shop/auth.py"), folder("shop"), folder("."))
    assert around(AUTHENTICATE).calls == (total_price,)
    assert around(handler.id).children == (authenticate,)
    assert around(".") == DocumentRelations(
        parents=(),
        children=(file("README.md"), folder("shop"), folder("tests")),
        called_by=(),
        referenced_by=(),
        calls=(),
        dependencies=(),
    )


def test_callers_beyond_the_first_are_counted(tmp_path: Path) -> None:
    code = "def total():\n    return 1\n" + "".join(f"\n\ndef pay_{at}():\n    return total()\n" for at in range(8))
    repo = GitRepo.create(tmp_path / "shop", {"shop.py": code})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    call = ToolContext(IndexCatalogue.of(open_home(tmp_path / "home").settings), Path("/"))
    documents = call.documents("shop")
    around = surroundings_of(documents, documents.number("shop.py::total") or 0)

    assert (len(around.called_by), around.more) == (5, {"called_by": 3})
