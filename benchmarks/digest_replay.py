"""The digests that standing questions would have brought, day by day, written without a model: to be read.

    python -m benchmarks.digest_replay --repository CLONE --since 2026-07-01 --until 2026-07-31 \
        --intents FILE --out FOLDER [--name OWNER/NAME]

The clone's first-parent line is built at the last commit of each day, in one
home. What changed since the day before is matched with the intents of FILE (an
`intents.yaml`), grouped, and written as a digest: each as Markdown and as the
HTML of its mail, in FOLDER, and one line here that says how much of the day's
changes it tells.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.replay import MovingBranch
from codesum_pipeline.foundation.data_model.digest_record import PostId, SummaryResult
from codesum_pipeline.foundation.data_model.standing_question import Intent, IntentMatch
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.notifications.delivery.dialects import html_mail
from codesum_pipeline.notifications.delivery.posts import digest_post, web_url
from codesum_pipeline.notifications.digests.change_sources import RepositorySource
from codesum_pipeline.notifications.digests.digest_items import items_of
from codesum_pipeline.notifications.digests.plain_digest import write_plain
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.notifications.matching.changed_documents import compare_published
from codesum_pipeline.notifications.matching.grouping import group_matches
from codesum_pipeline.notifications.matching.scores import make_blob_reader, match_changes
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of


def last_commits(clone: Path, since: str, until: str) -> list[tuple[str, str]]:
    """(day, commit) of each day in between with commits, oldest first; before them the last commit of all before."""
    command = ["git", "-C", str(clone), "log", "--first-parent", "--date=short", "--format=%cd %H", "HEAD"]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    days: dict[str, str] = {}
    for day, commit in zip(words[::2], words[1::2], strict=True):
        if day <= until:
            days.setdefault(day, commit)
        if day < since:
            break
    return sorted(days.items())


def matches_of(ws: Workspace, intents: Sequence[Intent]) -> tuple[int, list[IntentMatch]]:
    """How many documents changed since the last call, and the matches of each intent."""
    compared = compare_published(ws)
    if compared is None or not compared.changes:
        return 0, []
    embedder = embedder_of(ws.settings)
    index = PublishedIndex.open(ws.layout.published(ws.key))
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        return len(compared.changes), match_changes(compared.changes, intents, index, embedder, make_blob_reader(blobs))


def digests_of(
    clone: Path, days: Sequence[tuple[str, str]], intents: Sequence[Intent], name: str, folder: Path
) -> Iterator[tuple[str, SummaryResult]]:
    """(day, digest), built in `folder`."""
    branch = MovingBranch.of(clone, folder)
    for day, commit in days:
        ws = workspace_of(open_home(folder / "home"), branch.move_to(commit), run_id=day)
        build(ws)
        changed, matches = matches_of(ws, intents)
        sources = {ws.key: RepositorySource(name, ws.layout.mirror(ws.key))}
        for intent in intents:
            mine = [found for found in matches if found.intent_name == intent.name]
            if mine:
                items = items_of(group_matches(mine), sources)
                print(
                    f"{day}  {intent.name}: {len(items)} items of {len(mine)} matches of {changed} changes", flush=True
                )
                yield day, write_plain(intent, items)
        compared = compare_published(ws)
        if compared is not None:
            compared.keep()


def main() -> None:
    """Replay, write each digest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--since", required=True)
    parser.add_argument("--until", required=True)
    parser.add_argument("--intents", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", help="what the repository is called, and where its links lead on GitHub")
    options = parser.parse_args()
    survey = Intents(options.intents).survey()
    for problem in survey.problems.values():
        raise problem
    name = options.name or options.repository.resolve().name
    days = last_commits(options.repository, options.since, options.until)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for day, digest in digests_of(options.repository, days, survey.intents, name, Path(folder)):
            links = [web_url(f"https://github.com/{name}", each.place) for each in digest.citations]
            post = digest_post(PostId("replayed"), digest, links=links, created_at=f"{day}T00:00:00.000Z")
            file = options.out / f"{day} {digest.intent_name}"
            file.with_name(f"{file.name}.md").write_text(digest.summary, encoding="utf-8")
            file.with_name(f"{file.name}.html").write_text(html_mail(post), encoding="utf-8")


if __name__ == "__main__":
    main()
