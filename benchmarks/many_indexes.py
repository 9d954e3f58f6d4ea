"""Search over a thousand indexes in one process: open files, maps, memory and time, in a folder and in a bucket.

    python -m benchmarks.many_indexes [--repositories 1000] [--folder FOLDER]

Packages of this project are indexed as small repositories (about 100 to 1,000 documents) and copied under other keys
until there are so many. The bucket is moto's, on loopback, in a process of its own. Each row is a process that may
open 1,024 files, started anew: it asks questions about all repositories, then about one after the other. `bound` is
`ReadingSettings.open_indexes`. Times of the processor hardly depend on what else the machine does. Cold: nothing of the
bucket was copied yet; warm: all of it was, by the process before.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import codesum_pipeline
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.home_folders import for_reading
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import MANIFEST, manifest_bytes, read_version
from codesum_pipeline.search.retrieval.searching import answer_query
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.published_bucket import commit
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.requests import counted_requests
from codesum_pipeline_tests.support.settings import changed

PACKAGES = ("delivery", "intents", "matching", "mcp_server", "overlays", "source", "store", "web")
QUESTIONS = (
    "where is a lease renewed", "read a file of settings", "which documents changed", "send a mail",
    "TableStore", "parse a URL of a repository", "retry a request that failed", "escape text for a terminal",
)  # fmt: skip
OPEN_FILES = 1024
BOUND = 64
# Repeats of the command.
COMMANDS = 5


def prepare_home(folder: Path, repositories: int) -> Path:
    """A home with so many published indexes."""
    home = open_home(folder / "home")
    layout = HomeLayout(folder / "home")
    originals = []
    for name in PACKAGES:
        source = Path(codesum_pipeline.__file__).parent / name
        files = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*.py")}
        repo = GitRepo.create(folder / name, files)
        build(workspace_of(home, RepositoryEntry(name, str(repo.path))))
        originals.append(name)
    entries = {name: {"path": str(folder / name)} for name in originals}
    for number in range(repositories - len(originals)):
        original = originals[number % len(originals)]
        key = f"{original}-{number:05}"
        copy_index(layout, original, key)
        entries[key] = {"path": str(folder / original)}
    layout.repos_file.write_text(json.dumps({"repositories": entries}))
    return folder / "home"


def copy_index(layout: HomeLayout, original: str, key: str) -> None:
    """The published index of a repository, published under another key, too."""
    version = read_version(layout.published(original).resolve())
    data = manifest_bytes({**version.manifest, "repo": key})
    folder = layout.versions(key) / sha256_hex(data)
    shutil.copytree(version.folder, folder, copy_function=os.link)
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).write_bytes(data)
    layout.published(key).symlink_to(folder.relative_to(layout.summary_index))


@contextmanager
def serve_bucket() -> Iterator[dict[str, str]]:
    """A bucket; the environment that reaches it."""
    import requests

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                requests.put(f"{endpoint}/many", timeout=1)
                break
            except requests.RequestException:
                time.sleep(0.1)
        yield {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.terminate()
        server.wait()


def measure(home: str, bound: int) -> dict[str, Any]:
    """One process's row."""
    with counted_requests() as requests:
        return {**_measure_queries(home, bound), "requests": requests.total()}


def _measure_queries(home: str, bound: int) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    begun = time.perf_counter()
    settings = for_reading(changed(load_settings({"home": home}), reading={"open_indexes": bound}))
    catalogue = IndexCatalogue.of(settings)
    embedder = embedder_of(settings)
    row: dict[str, Any] = {"ready_s": time.perf_counter() - begun, "ready_cpu_s": time.process_time()}
    digest = hashlib.sha256()

    def ask(question: str, *names: str) -> float:
        start = time.perf_counter()
        indexes = catalogue.open_all(names, tell=print)
        for hit in answer_query(indexes, question, embedder=embedder).hits:
            digest.update(f"{hit.repo} {hit.id} {hit.score}\n".encode())
        return time.perf_counter() - start

    row["first_s"] = ask(QUESTIONS[0])
    row["first_cpu_s"] = time.process_time()
    row["all_ms"] = statistics.median(ask(question) for question in QUESTIONS) * 1000
    row["all_cpu_ms"] = (time.process_time() - row["first_cpu_s"]) / len(QUESTIONS) * 1000
    row |= {f"all_{name}": value for name, value in _resources_used().items()}
    keys = [entry.key for entry in catalogue.entries(print)]
    row["one_ms"] = statistics.median(ask(QUESTIONS[at % len(QUESTIONS)], key) for at, key in enumerate(keys)) * 1000
    row |= {f"one_{name}": value for name, value in _resources_used().items()}
    return {**row, "answers": digest.hexdigest()[:12]}


def _resources_used() -> dict[str, int]:
    status = Path("/proc/self/status").read_text()
    rss = next(line for line in status.splitlines() if line.startswith("RssAnon"))
    mapped = next(line for line in status.splitlines() if line.startswith("RssFile"))
    return {
        "files": len([*Path("/proc/self/fd").iterdir()]),
        "maps": len(Path("/proc/self/maps").read_text().splitlines()),
        "mb": int(rss.split()[1]) // 1024,
        "file_mb": int(mapped.split()[1]) // 1024,
    }


def measure_in_process(home: str, bound: int, environment: Mapping[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.many_indexes", "--measure", home, "--bound", str(bound)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


@dataclass(frozen=True, slots=True)
class CommandTime:
    """Of one command, from start to end: seconds on the clock, and of the processor."""

    clock_s: float
    cpu_s: float


def command_time(home: str, environment: Mapping[str, str]) -> CommandTime:
    """`codesum search --all --json` in a process of its own."""
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", home, "search", "--all", "--json", QUESTIONS[0]]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, cwd="/")
    clock_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return CommandTime(clock_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def print_report(home: Path, cache: Path, repositories: int) -> None:
    rows: dict[str, dict[str, Any]] = {}
    many = 10 * repositories
    with serve_bucket() as environment:
        environment |= {"XDG_CACHE_HOME": str(cache)}
        url = "s3://many/home"
        os.environ.update(environment)
        start = time.perf_counter()
        commit(home, url)
        print(f"put into the bucket in {time.perf_counter() - start:.0f} s", file=sys.stderr)
        for name, place, bound in (
            ("folder, no bound", str(home), many),
            (f"folder, bound {BOUND}", str(home), BOUND),
            ("bucket, cold, no bound", url, many),
            ("bucket, warm, no bound", url, many),
            (f"bucket, warm, bound {BOUND}", url, BOUND),
            ("folder, no bound, again", str(home), many),
        ):
            rows[name] = measure_in_process(place, bound, environment)
            print(name, rows[name], file=sys.stderr)
        places = {"folder": str(home), "bucket, warm": url}
        times: dict[str, list[CommandTime]] = {name: [] for name in places}
        for _ in range(COMMANDS):
            for name, place in places.items():
                times[name].append(command_time(place, environment))
    print("\n".join(_table_lines(rows)))
    print(f"\nAnswers are equal in all rows: {len({row['answers'] for row in rows.values()}) == 1}.")
    clock = {name: statistics.median(each.clock_s for each in found) for name, found in times.items()}
    cpu = {name: statistics.median(each.cpu_s for each in found) for name, found in times.items()}
    print("`codesum search --all --json` in a process of its own, medians of commands in turn:")
    print("; ".join(f"{name} {clock[name]:.2f} s ({cpu[name]:.2f} s of processor time)" for name in places))
    print(f"bucket to folder: {clock['bucket, warm'] / clock['folder']:.2f}, {cpu['bucket, warm'] / cpu['folder']:.2f}")


def _table_lines(rows: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    yield (
        "| | first answer, s (of processor) | all, ms (of processor) | one of them, ms | open files | maps "
        "| own memory, MB | one by one: maps, MB | requests |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, row in rows.items():
        first = row["ready_s"] + row["first_s"]
        yield (
            f"| {name} | {first:.1f} ({row['first_cpu_s']:.1f}) | {row['all_ms']:.0f} ({row['all_cpu_ms']:.0f}) "
            f"| {row['one_ms']:.1f} | {row['all_files']} | {row['all_maps']:,} | {row['all_mb']:,} "
            f"| {row['one_maps']:,}, {row['one_mb']:,} | {row['requests']:,} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=int, default=1000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    parser.add_argument("--bound", type=int, default=BOUND)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.bound)))
        return
    with tempfile.TemporaryDirectory(prefix="many-indexes-") as scratch:
        folder = arguments.folder or Path(scratch)
        home = folder / "home"
        if not home.is_dir():
            home = prepare_home(folder, arguments.repositories)
        print_report(home, Path(scratch) / "cache", arguments.repositories)


if __name__ == "__main__":
    main()
