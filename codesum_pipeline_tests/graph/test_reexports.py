"""From a file that hands a name on to the file that defines it: by edges, and by the names that a search knows."""

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import Edge, EdgeKind
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

PYTHON = {
    "shop/__init__.py": "from .sales import Cart, total as price_of\nfrom .money import *\n",
    "shop/sales/__init__.py": "from .cart import Cart, total\n",
    "shop/sales/cart.py": "class Cart:\n    def add(self, item):\n        self.items.append(item)\n\n\n"
    "def total(cart):\n    return sum(item.price for item in cart.items)\n",
    "shop/money.py": "def exchange(amount, rate):\n    return amount * rate\n",
}
TYPESCRIPT = {
    "pkg/index.ts": 'export * from "./cart";\nexport { sum as addUp } from "./sums";\n',
    "pkg/cart.ts": 'export { Basket } from "./basket";\n',
    "pkg/basket.ts": "export class Basket {\n  put(item: string) {\n    this.items.push(item);\n  }\n}\n",
    "pkg/sums.ts": "export function sum(prices: number[]) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "store"\n',
    "src/lib.rs": "mod inner;\npub use crate::inner::cart::{Cart, weigh as weight_of};\n",
    "src/inner/mod.rs": "pub mod cart;\n",
    "src/inner/cart.rs": "pub struct Cart { items: Vec<u8> }\n\n"
    "pub fn weigh(cart: &Cart) -> usize { cart.items.len() }\n",
}
PROJECTS = {"python": PYTHON, "typescript": TYPESCRIPT, "rust": RUST}


@pytest.fixture
def built(git_repo: Callable[..., GitRepo], make_workspace: Callable[..., Workspace]) -> Callable[..., Workspace]:
    def run(files: Mapping[str, str]) -> Workspace:
        workspace = make_workspace(git_repo(files).path)
        build(workspace)
        return workspace

    return run


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Workspace]:
    """The projects above by language, each built when it is first asked for."""

    @cache
    def run(language: str) -> Workspace:
        folder = tmp_path_factory.mktemp(language)
        repo = GitRepo.create(folder / "repository", PROJECTS[language])
        workspace = workspace_of(open_home(folder / "home"), RepositoryEntry(key="project", location=str(repo.path)))
        build(workspace)
        return workspace

    return run


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("static")


def imports_of(workspace: Workspace, path: str) -> set[str]:
    edges = workspace.tables.read_rows("edges", workspace.key, Edge)
    return {e.dst for e in edges if e.src_id == path and e.kind is EdgeKind.IMPORT and not e.is_external}


@pytest.mark.parametrize(
    ("language", "path", "expected"),
    [
        ("python", "shop/__init__.py", {"shop/sales/__init__.py", "shop/sales/cart.py", "shop/money.py"}),
        ("typescript", "pkg/index.ts", {"pkg/cart.ts", "pkg/basket.ts", "pkg/sums.ts"}),
        ("rust", "src/lib.rs", {"src/inner/mod.rs", "src/inner/cart.rs"}),
    ],
)
def test_a_file_imports_the_files_that_define_what_it_hands_on(
    built_once: Callable[[str], Workspace], language: str, path: str, expected: set[str]
) -> None:
    assert imports_of(built_once(language), path) == expected


def test_a_name_that_two_imported_files_define_is_followed_to_neither(built: Callable[..., Workspace]) -> None:
    both = "export function run() {\n  return 1;\n}\n"
    files = {"p/index.ts": "export * from './one';\nexport * from './two';\n", "p/one.ts": both, "p/two.ts": both}
    workspace = built(files | {"q.ts": "export { run } from './p';\n"})

    assert imports_of(workspace, "q.ts") == {"p/index.ts"}


def test_of_two_stars_the_last_hands_a_name_on(built: Callable[..., Workspace]) -> None:
    both = "def run():\n    return 1\n"
    files = {"p/__init__.py": "from .one import *\nfrom .two import *\n", "p/one.py": both, "p/two.py": both}
    workspace = built(files | {"q/__init__.py": "from p import run\n__all__ = ['run']\n"})

    assert imports_of(workspace, "q/__init__.py") == {"p/__init__.py", "p/two.py"}


def test_a_constant_that_is_handed_on_finds_its_file(built: Callable[..., Workspace], embedder: Embedder) -> None:
    files = {
        "pkg/index.ts": 'export { LIMIT, total } from "./cart";\n',
        "pkg/cart.ts": "export const LIMIT = 3;\nexport function total(x: number) {\n  return x;\n}\n",
    }
    workspace = built(files)
    index = PublishedIndex.open(workspace.layout.published(workspace.key))

    assert search_indexes([index], "pkg.LIMIT", embedder=embedder)[0].id == "pkg/cart.ts"


def test_a_star_hands_on_what_a_module_exports_and_nothing_else(
    built: Callable[..., Workspace], embedder: Embedder
) -> None:
    files = {
        "pkg/index.ts": 'export * from "./cart";\n',
        "pkg/cart.ts": "function weigh(x: number) {\n  return x;\n}\n"
        "export function total(x: number) {\n  return weigh(x);\n}\n",
    }
    workspace = built(files)
    names = PublishedIndex.open(workspace.layout.published(workspace.key)).names

    assert names.rows_named("pkg.total") != []
    assert names.rows_named("pkg.weigh") == []


def test_files_that_hand_on_each_others_names_end(built: Callable[..., Workspace]) -> None:
    files = {f"p/m{n}.py": f"from .m{(n + 1) % 3} import *\nfrom .m{(n + 2) % 3} import *\n" for n in range(3)}

    assert imports_of(built(files), "p/m0.py") == {"p/m1.py", "p/m2.py"}


def test_an_edge_to_what_is_handed_on_goes_when_the_name_moves(
    git_repo: Callable[..., GitRepo], make_workspace: Callable[..., Workspace]
) -> None:
    repo = git_repo(PYTHON)
    workspace = make_workspace(repo.path)
    build(workspace)
    repo.commit({
        "shop/sales/cart.py": "",
        "shop/sales/basket.py": PYTHON["shop/sales/cart.py"],
        "shop/sales/__init__.py": "from .basket import Cart, total\n",
    })  # fmt: skip
    build(workspace)

    assert imports_of(workspace, "shop/__init__.py") == {
        "shop/sales/__init__.py",
        "shop/sales/basket.py",
        "shop/money.py",
    }


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("python", "shop.Cart", "shop/sales/cart.py::Cart"),
        ("python", "shop.sales.Cart", "shop/sales/cart.py::Cart"),
        ("python", "price_of", "shop/sales/cart.py::total"),
        ("python", "shop.price_of", "shop/sales/cart.py::total"),
        ("python", "shop.exchange", "shop/money.py::exchange"),
        ("typescript", "addUp", "pkg/sums.ts::sum"),
        ("typescript", "pkg.Basket", "pkg/basket.ts::Basket"),
        ("rust", "crate::Cart", "src/inner/cart.rs::Cart"),
        ("rust", "project::Cart", "src/inner/cart.rs::Cart"),
        ("rust", "weight_of", "src/inner/cart.rs::weigh"),
    ],
)
def test_a_name_that_is_handed_on_finds_its_definition_first(
    built_once: Callable[[str], Workspace], embedder: Embedder, language: str, query: str, expected: str
) -> None:
    workspace = built_once(language)
    index = PublishedIndex.open(workspace.layout.published(workspace.key))

    hits = search_indexes([index], query, embedder=embedder)

    assert hits[0].id == expected
    assert {document for document in index.ids if "::" in document} == {
        id_ for id_ in index.ids if index.level_of(index.row(id_)) in (Level.FUNCTION, Level.CLASS)
    }


HEAVY = {
    "store/__init__.py": '"""Carts of customers, their items, prices, totals and taxes."""\n\n'
    "from .cart import Cart, total\nfrom .tax import tax_of\n",
    "store/cart.py": "class Cart:\n    def add(self, item):\n        self.items.append(item)\n\n\n"
    "def total(cart):\n    return sum(item.price for item in cart.items)\n",
    "store/tax.py": "def tax_of(amount):\n    return amount * 0.2\n",
}


def test_a_file_that_only_hands_on_comes_after_what_defines_it(
    built: Callable[..., Workspace], embedder: Embedder
) -> None:
    workspace = built(HEAVY)
    index = PublishedIndex.open(workspace.layout.published(workspace.key))

    hits = search_indexes([index], "total of the items of a cart", embedder=embedder, levels=[Level.FILE])

    assert hits[0].id == "store/cart.py"
    lowered = next(hit for hit in hits if hit.id == "store/__init__.py")
    assert "only re-exports, lowered" in lowered.why
    assert index.arrays["only_reexports"].sum() == 1


@pytest.mark.parametrize("query", ["what is in store/__init__.py", "carts in __init__.py"])
def test_a_file_that_only_hands_on_is_not_lowered_where_its_name_is_written(
    built: Callable[..., Workspace], embedder: Embedder, query: str
) -> None:
    workspace = built(HEAVY)
    index = PublishedIndex.open(workspace.layout.published(workspace.key))

    hits = search_indexes([index], query, embedder=embedder, levels=[Level.FILE])

    assert not any("re-exports" in hit.why for hit in hits)
