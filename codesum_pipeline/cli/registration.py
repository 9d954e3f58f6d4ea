"""From what a person types, a key, a path or a URL, to an entry of the registry."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.cli.render import note
from codesum_pipeline.cli.wrong_locations import check_address, check_path
from codesum_pipeline.model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import find_root, full_place, is_url, parse_location
from codesum_pipeline.source.registry import Registry
from codesum_pipeline.source.work_trees import covering_entry

KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", show_default=False, help="What to call it. Default: the last part of the location."
    ),
]
RefOption = Annotated[
    str | None,
    typer.Option("--ref", show_default=False, metavar="REF", help="Branch, tag or commit. Default: the remote's HEAD."),
]
SubdirOption = Annotated[
    str | None,
    typer.Option(
        "--subdir",
        metavar="FOLDER",
        show_default=False,
        help="Index only this folder of the repository. A monorepo can be registered once per folder.",
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="PATTERN",
        show_default=False,
        help="Index only files that match, as in .gitignore. Can be repeated.",
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        show_default=False,
        help="Leave out files that match, as in .gitignore. Can be repeated.",
    ),
]
WorktreeOption = Annotated[
    bool | None,
    typer.Option(
        "--worktree/--no-worktree",
        show_default=False,
        help="Read the folder as it is on the disk, committed or not. Default: its last commit.",
    ),
]
ScipOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scip",
        metavar="PATH[@FOLDER]",
        show_default=False,
        help="A SCIP index file; FOLDER is the folder of the repository that its paths start at. Can be repeated.",
    ),
]
ScipCommandOption = Annotated[
    str | None,
    typer.Option(
        "--scip-command",
        metavar="COMMAND",
        show_default=False,
        help="A command that writes a SCIP index; each build of a new commit runs it in a sandbox.",
    ),
]


class EntryOptions(Struct, frozen=True):
    """The options of `add`, as far as they were given."""

    key: str | None = None
    ref: str | None = None
    subdir: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    worktree: bool | None = None
    scip: tuple[str, ...] = ()
    scip_command: str | None = None

    @classmethod
    def of(
        cls,
        *,
        key: str | None,
        ref: str | None,
        subdir: str | None,
        include: Iterable[str] | None,
        exclude: Iterable[str] | None,
        worktree: bool | None,
        scip: Iterable[str] | None = None,
        scip_command: str | None = None,
    ) -> "EntryOptions":
        """As typer gives them; raises `ConfigurationError` for one that is empty."""
        given = {
            "--key": [key],
            "--ref": [ref],
            "--include": include or (),
            "--exclude": exclude or (),
            "--scip": scip or (),
            "--scip-command": [scip_command],
        }
        for name, values in given.items():
            if any(value is not None and not value.strip() for value in values):
                raise ConfigurationError(f"{name} '': it is empty: give it a value, or leave it out")
        places = tuple(full_place(item, base=Path.cwd()) for item in scip or ())
        return cls(key, ref, subdir, tuple(include or ()), tuple(exclude or ()), worktree, places, scip_command)

    @property
    def any_given(self) -> bool:
        return self != EntryOptions()

    def applied_to(self, entry: RepositoryEntry) -> RepositoryEntry:
        """The entry with what was given in place of what it had."""
        return replace(
            entry,
            ref=self.ref or entry.ref,
            include=self.include or entry.include,
            exclude=self.exclude or entry.exclude,
            worktree=entry.worktree if self.worktree is None else self.worktree,
            scip=self.scip or entry.scip,
            scip_command=self.scip_command or entry.scip_command,
        )


_NO_OPTIONS = EntryOptions()


def find_entry(registry: Registry, text: str, options: EntryOptions = _NO_OPTIONS) -> tuple[RepositoryEntry, bool]:
    """The entry that `text` and the options describe, and whether it is registered as it stands.

    `text` is a key, a path (also of a folder inside a git work tree) or a URL.
    Without options, a folder that a registered repository's index holds is that
    repository, and the person is told so.
    """
    known = _by_key(registry, text)
    if known is None:
        check_address(text)
        location, subdir = _located(text, options)
        known = _by_place(registry, location, subdir, key=options.key)
        if known is None:
            check_path(text)
            if not options.any_given and (covering := _covering(registry, location, subdir)):
                return covering, True
            key = options.key or registry.default_key(location, subdir=subdir)
            return options.applied_to(RepositoryEntry(key=key, location=location, subdir=subdir)), False
    elif options.key not in (None, known.key) or options.subdir is not None:
        raise ConfigurationError(f"{text!r} is registered: --key and --subdir go with a path or URL")
    wanted = options.applied_to(known)
    return wanted, wanted == known


def _by_key(registry: Registry, text: str) -> RepositoryEntry | None:
    """Anything with a slash, and `.`, is a location; `./name` is the folder where a key has the same name."""
    if "/" in text or text.startswith("~") or text in (".", "..") or not text.strip():
        return None
    try:
        return registry.get(text)
    except UnknownRepository:
        if not os.path.exists(text) and ":" not in text:  # noqa: PTH110 - a name that is too long does not exist
            raise
        return None


def _by_place(registry: Registry, location: str, subdir: str, *, key: str | None) -> RepositoryEntry | None:
    """The first entry of a place, or the one with this key: a place may be registered under several."""
    if key is None:
        return registry.find(location, subdir=subdir)
    same = (
        entry for entry in registry.entries() if (entry.key, entry.location, entry.subdir) == (key, location, subdir)
    )
    return next(same, None)


def _covering(registry: Registry, location: str, subdir: str) -> RepositoryEntry | None:
    """The entry whose index holds a folder, which is told."""
    if is_url(location):
        return None
    found = covering_entry(registry.entries(), Path(location), subdir)
    if found:
        key = registry.default_key(location, subdir=subdir)
        note(
            f"{Path(location) / subdir} is inside {found.key}, which is registered: its index covers it "
            f"(`--key {key}` indexes this folder on its own)"
        )
    return found


def _located(text: str, options: EntryOptions) -> tuple[str, str]:
    """Location and subdir; a folder inside a git work tree is that repository with the folder as subdir."""
    location = parse_location(text, base=Path.cwd())
    if is_url(location):
        return location, _folder(options.subdir or "")
    root, inner = find_root(Path(location))
    if options.subdir is not None:
        return (location, _folder(options.subdir)) if not inner else (str(root), _folder(f"{inner}/{options.subdir}"))
    return str(root), inner


def _folder(subdir: str) -> str:
    return "/".join(part for part in subdir.split("/") if part not in ("", "."))
