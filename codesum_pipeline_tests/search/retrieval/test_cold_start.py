import json
import subprocess
import sys
from pathlib import Path

from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace, publish

_HEAVY = {"bm25s", "dagster", "duckdb", "litellm", "model2vec", "networkx", "numba", "pandas", "pyarrow",
          "scipy", "sentence_transformers", "torch", "transformers", "tree_sitter"}  # fmt: skip

_SEARCH = """
import json, sys
from pathlib import Path
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.searching import read_batch
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query
found = answer_query([PublishedIndex.open(Path(sys.argv[1]))], "total price", embedder=load_embedder("static"))
print(json.dumps({"first": found.hits[0].id, "modules": sorted({name.partition(".")[0] for name in sys.modules})}))
"""


def test_a_search_imports_nothing_heavy(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    publish(workspace)

    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(workspace.layout.published("shop"))],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )

    report = json.loads(done.stdout)
    assert report["first"] == "shop/cart.py::total_price"
    assert _HEAVY.intersection(report["modules"]) == set()


def test_the_search_command_imports_nothing_that_only_homes_in_buckets_need() -> None:
    code = "import sys, codesum_pipeline.ways_in.cli.commands.search; print(*sys.modules, sep='\\n')"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    of_buckets = {"heads", "home_files", "objects", "reading_copy"}
    of_store = {
        name.rpartition(".")[2] for name in done.stdout.split() if name.startswith("codesum_pipeline.foundation.store.")
    }
    assert of_store & of_buckets == set()


def test_a_command_that_only_prints_its_help_imports_neither_numpy_nor_arrow() -> None:
    code = "import sys, codesum_pipeline.ways_in.cli.cli_app; print(*sys.modules, sep='\\n')"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"numpy", "pyarrow"}.isdisjoint(done.stdout.split())
