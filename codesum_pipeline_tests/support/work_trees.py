"""Linked work trees of one indexed shop, and tools that are asked in one of them."""

import json
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes.opening import settle_tree
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

_NUMBERS = count()


@dataclass(frozen=True)
class IndexedShop:
    """A repository and its home; what a test edits is a work tree of its own."""

    repo: GitRepo
    home: Path
    catalogue: IndexCatalogue

    @classmethod
    def create(cls, folder: Path, files: Any, **entry: Any) -> "IndexedShop":
        repo, home = GitRepo.create(folder / "shop", files), open_home(folder / "home")
        build(workspace_of(home, RepositoryEntry("shop", str(repo.path), **entry)))
        return cls(repo, home.layout.home, IndexCatalogue(home.settings, home.layout, home.registry))

    def tree(self) -> "Tree":
        path = self.repo.path.parent / f"tree-{next(_NUMBERS)}"
        self.repo.git("worktree", "add", "-q", "--detach", str(path))
        return Tree(self, GitRepo(path))


@dataclass(frozen=True)
class Tree:
    """A linked work tree, and ways to ask from in there."""

    shop: IndexedShop
    repo: GitRepo

    def ask(self, tool: str, /, **arguments: Any) -> AnswerPage:
        return tools_by_name()[tool].ask(ToolContext(self.shop.catalogue, self.repo.path), arguments)

    def answer_text(self, tool: str, /, **arguments: Any) -> str:
        return self.ask(tool, **arguments).text()

    def settle(self) -> None:
        settings = self.shop.catalogue.settings
        (entry,) = self.shop.catalogue.registry.entries()
        settle_tree(settings, entry, self.shop.catalogue.open("shop"), self.repo.path)

    def codesum(self, *arguments: str) -> Any:
        """What a command prints as JSON, and what it says beside."""
        done = fork_codesum("--home", self.shop.home, *arguments, "--json", cwd=self.repo.path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr
