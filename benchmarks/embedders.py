"""How fast the embedding models that run here are, side by side.

    python -m benchmarks.embedders [FOLDER]

Takes the texts that the dense lanes would embed of a folder's Python files
(default: the package itself), one process per model, and measures: from start
to the first vector, documents a second, and the peak memory. Prints a table.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder

MODELS = ("static", "minilm")
# MiniLM needs a minute for these on one core.
MOST_TEXTS = 600


def texts_of(folder: Path, scratch: Path) -> list[str]:
    """Evenly spread texts of the dense lanes."""
    # Imported here so that a process that measures holds a model and nothing else.
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline.indexes.lanes.lane_texts import dense_texts, lane_sources, read_heads
    from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
    from codesum_pipeline_tests.support.repositories import GitRepo

    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    repository = GitRepo.create(scratch / "repository", files)
    workspace = workspace_of(open_home(scratch / "home"), RepositoryEntry(key="p", location=str(repository.path)))
    build(workspace)
    lanes = (
        lane for some in lane_sources(workspace, read_heads(workspace)) for lane in dense_texts(some, max_tokens=512)
    )
    texts = sorted({text for lane in lanes for text in lane.texts.to_pylist()})
    return texts[:: max(1, len(texts) // MOST_TEXTS)][:MOST_TEXTS]


def measure(model: str, texts: list[str]) -> dict[str, float]:
    """One model in this process, which has embedded nothing yet."""
    started = time.perf_counter()
    embedder = load_embedder(model)
    embedder.embed_query("where are errors raised?")
    first_s = time.perf_counter() - started
    started, started_cpu = time.perf_counter(), time.process_time()
    embedder.embed(texts)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
    return {
        "first_s": first_s,
        "texts_per_s": len(texts) / wall_s,
        "texts_per_cpu_s": len(texts) / cpu_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Measure each model in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent.parent / "codesum_pipeline")
    parser.add_argument("--model", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.model:
        print(json.dumps(measure(arguments.model, json.load(sys.stdin))))
        return
    with tempfile.TemporaryDirectory(prefix="codesum-embedders-") as scratch:
        texts = texts_of(arguments.folder, Path(scratch))
    print(
        f"{len(texts)} texts of {arguments.folder.name}, {sum(map(len, texts)) // len(texts)} characters on average\n"
    )
    print("| model | start to first vector | texts/s | texts/s of one core | peak memory |\n|---|---:|---:|---:|---:|")
    for model in MODELS:
        command = [sys.executable, "-m", "benchmarks.embedders", "--model", model]
        shown = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
        found = json.loads(shown.stdout.splitlines()[-1])
        print(
            f"| {model} | {found['first_s']:.2f} s | {found['texts_per_s']:,.0f} | {found['texts_per_cpu_s']:,.0f} "
            f"| {found['peak_mb']:,.0f} MB |"
        )


if __name__ == "__main__":
    main()
