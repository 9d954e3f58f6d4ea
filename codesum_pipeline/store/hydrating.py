"""This worker's folder becomes the state of a repository that a bucket holds.

Only parts that the folder lacks are fetched. Files are put in their places with
the times that they were first written at, by which memos know them. Versions
share what they have in common, as those of a folder home do.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.hashing import sha256_of_file
from codesum_pipeline.store.atomic import replacing, temporary_beside
from codesum_pipeline.store.heads import StateFile, StateManifest, part_name, read_manifest
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.objects import Objects
from codesum_pipeline.store.part_notes import PartNotes, set_times
from codesum_pipeline.store.repository_files import files_of, links_of, restore_ledger


def hydrate(layout: HomeLayout, key: str, objects: Objects, *, state: str | None, transfers: int) -> PartNotes:
    """Make the files of a repository those of a state, and say what they are.

    Where the folder was made from the very same state, what a killed build added to it is kept, as in a home that is a
    folder. Raises `BrokenStore` where the bucket lacks a part.
    """
    notes = PartNotes.read(layout.part_notes(key), url=objects.url)
    if notes.based_on == state and _is_whole(layout, notes.manifest):
        return notes
    manifest = read_manifest(objects, state) if state else StateManifest()
    # Until all is in place the folder is made from no state.
    notes.based_on = None
    notes.write(layout.part_notes(key))
    _remove_others(layout, key, manifest)
    _fetch(layout, objects, manifest, notes, transfers)
    _link(layout, manifest)
    restore_ledger(layout.state(key), layout.kept_ledger(key))
    notes.keep_only(manifest.files)
    notes.based_on, notes.manifest = state, manifest
    notes.write(layout.part_notes(key))
    return notes


def _is_whole(layout: HomeLayout, manifest: StateManifest) -> bool:
    links = (layout.home / path for path in manifest.links)
    return all((layout.home / path).exists() for path in manifest.files) and all(link.is_symlink() for link in links)


def _remove_others(layout: HomeLayout, key: str, manifest: StateManifest) -> None:
    for path in [*links_of(layout, key)]:
        if str(path.relative_to(layout.home)) not in manifest.links:
            path.unlink()
    for path in [*files_of(layout, key)]:
        if str(path.relative_to(layout.home)) not in manifest.files:
            path.unlink()
            _remove_empty(path.parent, above=layout.home)


def _remove_empty(folder: Path, *, above: Path) -> None:
    """Of a version, or a table, that is no longer kept nothing is left."""
    with suppress(OSError):
        while folder != above:
            folder.rmdir()
            folder = folder.parent


def _fetch(layout: HomeLayout, objects: Objects, manifest: StateManifest, notes: PartNotes, transfers: int) -> None:
    wanted: dict[str, dict[str, StateFile]] = defaultdict(dict)
    for path, file in manifest.files.items():
        if not _stands(layout.home, path, file, notes):
            wanted[file.part][path] = file
    at_hand = {noted.part: path for path, noted in notes.files.items() if notes.part_of(layout.home, path)}
    with ThreadPoolExecutor(transfers) as threads:
        fetched = [
            threads.submit(_place, layout, objects, part, files, at_hand.get(part))
            for part, files in sorted(wanted.items())
        ]
        for one in fetched:
            one.result()
    for part, files in wanted.items():
        for path in files:
            notes.note(layout.home, path, part)


def _stands(home: Path, path: str, file: StateFile, notes: PartNotes) -> bool:
    """Whether a file is in its place as the manifest says, given its time where only that differs."""
    if notes.part_of(home, path) != file.part:
        return False
    target = home / path
    if target.stat().st_mtime_ns != file.modified_ns:
        set_times(target, file.modified_ns)
        notes.note(home, path, file.part)
    return True


def _place(
    layout: HomeLayout, objects: Objects, part: str, files: Mapping[str, StateFile], at_hand: str | None
) -> None:
    """Put one part in all its places: linked where the time is the same, too, and both lie among versions."""
    versions = layout.versions("")
    placed: dict[int, Path] = {}
    source = layout.home / at_hand if at_hand else None
    for path, file in sorted(files.items()):
        target = layout.home / path
        aside = temporary_beside(target)
        shared = placed.get(file.modified_ns) if target.is_relative_to(versions) else None
        if shared:
            os.link(shared, aside)
        elif source:
            with replacing(aside) as copy, source.open("rb") as original:
                shutil.copyfileobj(original, copy)
        elif not objects.download(part_name(part), aside) or sha256_of_file(aside) != part:
            aside.unlink(missing_ok=True)
            raise BrokenStore(
                f"{objects.url}: {part_name(part)}, which is {path}, is missing or damaged: delete the head of the "
                "repository and index it again"
            )
        if not shared:
            set_times(aside, file.modified_ns)
        os.replace(aside, target)
        source = target
        if target.is_relative_to(versions):
            placed[file.modified_ns] = target


def _link(layout: HomeLayout, manifest: StateManifest) -> None:
    for path, link in manifest.links.items():
        name = layout.home / path
        aside = temporary_beside(name)
        aside.symlink_to(link.target)
        set_times(aside, link.modified_ns)
        os.replace(aside, name)
