"""A checkout that somebody asks about and nobody indexed: what it would take to index it, and where its index will lie.

`codesum search` asks a person, and else names the command.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from msgspec import Struct

from codesum_pipeline.cli.documents import open_published
from codesum_pipeline.cli.invocation import Invocation, main_work_tree
from codesum_pipeline.cli.render import note
from codesum_pipeline.homes.folders import user_home
from codesum_pipeline.model.errors import CodesumError, MissingTable
from codesum_pipeline.model.printable import counted
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.git import try_git
from codesum_pipeline.source.rules import PathRules
from codesum_pipeline.tools.catalogue import Checkout, checkout_of, entries_of

_TIMEOUT_S = 60.0
# Of a build on two cores: to start it, and the source that it takes in a second (benchmarks/results/growth.md).
_START_S = 4.0
_BYTES_A_SECOND = 250_000
# Not by `-m`, which would look for modules in the current folder.
_CODE = "import sys; sys.path[:] = {path!r}; from codesum_pipeline.cli import main; main()"


class Size(Struct, frozen=True):
    """How much of a repository's last commit would be indexed."""

    files: int
    bytes: int

    @property
    def seconds(self) -> float:
        """About how long a first build takes."""
        return _START_S + self.bytes / _BYTES_A_SECOND


class UnindexedCheckout(Struct, frozen=True):
    """A checkout without an index, and what is to be indexed for it: `targets` are keys, or where it lies."""

    called: Invocation
    checkout: Checkout
    targets: tuple[str, ...]
    problem: str = ""

    @classmethod
    def find(cls, called: Invocation, checkout: Checkout) -> "UnindexedCheckout | None":
        """None where one of the entries of the checkout is published."""
        entries = entries_of(checkout, called.registry.survey().entries)
        enabled = [entry.key for entry in entries if entry.enabled]
        if any(os.path.lexists(called.layout.published(key)) for key in enabled):
            return None
        location = _location(checkout)
        return cls(called, checkout, tuple(enabled) or (str(location),), _problem(location, entries))

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.checkout.root.name

    @property
    def command(self) -> str:
        """The command that indexes it."""
        home = self.called.settings.home
        is_named = self.called.flags.get("home") or (home == user_home() and not os.environ.get("CODESUM_HOME"))
        named = ["--home", self.called.settings.address] if is_named else []
        return shlex.join(["codesum", *named, "index", *self.targets])

    def size(self) -> Size:
        """Raises `RepositoryUnavailable` where git cannot read the repository."""
        rules = PathRules.of(RepositoryEntry("any", "/"), self.called.settings)
        listed = try_git(
            ["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"], git_dir=self.checkout.git_dir, timeout_s=_TIMEOUT_S
        )
        files = total = 0
        for entry in listed.output.split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            mode, *_, size = facts.decode().split() or ("", "-")
            if size.isdecimal() and not rules.why_skipped(path.decode("utf-8", "replace"), mode=mode, size=int(size)):
                files, total = files + 1, total + int(size)
        return Size(files, total)

    def build_command(self) -> list[str]:
        """The same command for a process of ours."""
        flags = [
            *("--home", self.called.settings.address),
            *(("--settings-file", str(named)) if (named := self.called.flags.get("settings_file")) else ()),
            *(("--offline",) if self.called.flags.get("offline") else ()),
        ]
        return [sys.executable, "-P", "-c", _CODE.format(path=sys.path), *flags, "index", *self.targets]


def index_on_first_use(called: Invocation, checkout: Checkout, *, may_ask: bool) -> bool:
    """Index a checkout that the home does not know, if the person at the terminal wants that.

    False where it is not indexed and other indexes are meant. Raises `MissingTable`, which names the command, where
    there are none.
    """
    found = UnindexedCheckout.find(called, checkout)
    if found is None:
        return True
    others = _others_are_meant(called)
    if found.problem and not others:
        raise MissingTable(found.problem)
    if not found.problem and may_ask and sys.stdin.isatty() and sys.stderr.isatty() and _is_wanted(found):
        _build(found)
        return True
    if not others:
        raise MissingTable(f"{checkout.root} is not indexed yet: run `{found.command}`")
    return False


def _is_wanted(found: UnindexedCheckout) -> bool:
    size = found.size()
    note(
        f"{found.checkout.root} is not indexed yet: {counted(size.files, 'file')}, about {in_time(size.seconds)}; "
        f"the index will lie in {found.called.settings.home}"
    )
    return typer.confirm("Index it now?", default=True, err=True)


def _build(found: UnindexedCheckout) -> None:
    """On this terminal; what it prints is no part of the answer."""
    process = subprocess.Popen(found.build_command(), stdin=subprocess.DEVNULL, stdout=sys.stderr)
    while True:
        try:
            status = process.wait()
            break
        except KeyboardInterrupt:
            # The terminal has told the build, too, which ends by itself.
            continue
    if status != 0:
        raise typer.Exit(status if status > 0 else 128 - status)


def _others_are_meant(called: Invocation) -> bool:
    """Whether somebody chose the home, and it holds other indexes: in that of all checkouts they are of no use here."""
    is_chosen = called.flags.get("home") or os.environ.get("CODESUM_HOME") or called.settings.home != user_home()
    entries = called.registry.survey().entries
    return bool(is_chosen) and any(
        entry.enabled and os.path.lexists(called.layout.published(entry.key)) for entry in entries
    )


def _location(checkout: Checkout) -> Path:
    """What is registered: the main work tree; of a repository that has none itself."""
    if (checkout.root / ".git").is_dir():
        return checkout.root
    if main := main_work_tree(checkout):
        return main
    told = try_git(["rev-parse", "--is-bare-repository"], git_dir=checkout.git_dir, timeout_s=_TIMEOUT_S)
    return checkout.git_dir if told.output.strip() == b"true" else checkout.root


def _problem(location: Path, entries: Sequence[RepositoryEntry]) -> str:
    """Why it cannot be indexed now; empty where nothing stands in the way."""
    if entries and not any(entry.enabled for entry in entries):
        return f"{entries[0].key} is disabled: `codesum add {entries[0].key}` enables it"
    git_dir = location / ".git" if (location / ".git").exists() else location
    try:
        head = try_git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], git_dir=git_dir, timeout_s=_TIMEOUT_S)
    except CodesumError as error:
        return f"{location} cannot be read: {error}"
    if head.status != 0 and not entries:
        return f"{location} has no commit yet, and nothing to index: commit something first"
    return ""


def in_time(seconds: float) -> str:
    """`8 s`, `3 min`."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


class SearchScope(Struct, frozen=True):
    """The indexes to search; `remark` says why it is these where nobody named them.

    It `leaves_out` others that a question of a batch may name.
    """

    indexes: list[PublishedIndex]
    remark: str | None = None
    leaves_out: bool = False


def open_scope(called: Invocation, names: Sequence[str], *, everything: bool, may_ask: bool = False) -> SearchScope:
    """Open the indexes that a search is about; in a checkout, those of its repository.

    One that is not indexed is, if somebody at the terminal may be asked and wants it.
    """
    checkout = None if names or everything else checkout_of(Path.cwd())
    if checkout is None:
        return SearchScope(open_published(called, names))
    published = [
        entry
        for entry in called.registry.entries()
        if entry.enabled and os.path.lexists(called.layout.published(entry.key))
    ]
    ours = entries_of(checkout, published)
    if not ours and index_on_first_use(called, checkout, may_ask=may_ask):
        return open_scope(called, names, everything=everything)
    others = len(published) - len(ours)
    if not ours:
        remark = f"the repository of this folder is not indexed (`codesum index {checkout.root}`)"
        return SearchScope(
            open_published(called), f"{remark}: searching {_all_that_are(others)}" if published else None
        )
    keys = [entry.key for entry in ours]
    if not others:
        return SearchScope(open_published(called))
    is_one = len(keys) == 1
    remark = f"searching {', '.join(keys)}, the {'repository' if is_one else 'repositories'} of this folder"
    rest = "the other one" if others == 1 else f"the other {others:,}"
    return SearchScope(open_published(called, keys), f"{remark}; --all searches {rest} too", leaves_out=True)


def _all_that_are(number: int) -> str:
    return "the one that is" if number == 1 else f"the {counted(number, 'repository', 'repositories')} that are"
