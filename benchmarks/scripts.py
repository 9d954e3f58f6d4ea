"""How well a search reads questions in the script of the code's documentation, and tells those without an answer.

    python -m benchmarks.scripts [--home FOLDER]

`benchmarks/questions/scripts.toml` has a small repository in each of nine languages. Each is indexed, and asked its own
questions: those with an answer, and those without.
"""

import argparse
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval import Table, print_table
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import SearchAnswer, answer_query
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

QUESTIONS = Path(__file__).parent / "questions" / "scripts.toml"
# Functions in one file.
IN_A_FILE = 4


def main() -> None:
    """Index each language's repository, ask, print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--each", action="store_true", help="also print each question")
    arguments = parser.parse_args()
    home = arguments.home or Path(tempfile.mkdtemp(prefix="codesum-scripts-"))
    languages = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    names = languages.pop("names")
    embedder = load_embedder("static")
    rows: Table = [["language", "docstring kept", "answer first", "among 3", "right, marked", "absent, marked"]]
    for language, own in languages.items():
        index = open_index(home, language, names, own["docs"])
        asked = {
            kind: [answer_query([index], query, embedder=embedder, top=5) for query in own[kind]]
            for kind in ("right", "absent")
        }
        ranks = [rank_of(name, answer) for name, answer in zip(names, asked["right"], strict=True)]
        rows.append(
            [
                language,
                f"{sum(map(index_has(index), own['docs']))} of {len(names)}",
                f"{ranks.count(1)} of {len(names)}",
                f"{sum(rank <= 3 for rank in ranks)} of {len(names)}",
                *(f"{sum(not one.fits_well for one in asked[kind])} of {len(names)}" for kind in asked),
            ]
        )
        if arguments.each:
            for kind, answers in asked.items():
                for number, (query, answer) in enumerate(zip(own[kind], answers, strict=True)):
                    like = answer.likeness
                    rank = ranks[number] if kind == "right" else ""
                    print(f"{language} {kind} {answer.fits_well} {rank} {like.nearness:.2f} {like.words:.2f} {query}")
    print_table(rows)


def open_index(home: Path, language: str, names: Sequence[str], docs: Sequence[str]) -> PublishedIndex:
    """The index of a language's repository."""
    files: dict[str, str | bytes] = {}
    for start in range(0, len(names), IN_A_FILE):
        some = zip(names[start : start + IN_A_FILE], docs[start : start + IN_A_FILE], strict=True)
        files[f"shop/part{start // IN_A_FILE}.py"] = "\n\n".join(write_function(*one) for one in some)
    folder = home / "repositories" / language
    repo = GitRepo.create(folder, files)
    codesum = open_home(home / "home")
    build(workspace_of(codesum, RepositoryEntry(language, str(repo.path))))
    return PublishedIndex.open(codesum.layout.published(language))


def write_function(name: str, doc: str) -> str:
    """A documented function that does a little."""
    verb, _, thing = name.partition("_")
    lines = (f'"""{doc}"""', f"found = store.{verb}({thing})", "store.log(found)", "return found")
    return "\n    ".join((f"def {name}({thing}, store):", *lines)) + "\n"


def index_has(index: PublishedIndex) -> Any:
    """Whether the summary of some document has a docstring."""
    summaries = [index.document(row)["summary"] for row in range(len(index))]
    return lambda doc: any(doc.rstrip("。.।") in summary for summary in summaries)


def rank_of(name: str, answer: SearchAnswer) -> int:
    """The rank of the function; 99 if it is none of the hits."""
    return next((rank for rank, hit in enumerate(answer.hits, 1) if hit.id.endswith(f"::{name}")), 99)


if __name__ == "__main__":
    main()
