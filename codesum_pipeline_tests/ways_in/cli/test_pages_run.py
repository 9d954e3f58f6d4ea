"""What a newcomer reads first is run here, command by command, in a repository that nobody indexed before."""

from pathlib import Path

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.doc_pages import command_lines
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP


@pytest.mark.parametrize(
    "pages", [("README.md",), ("docs/getting_started.md", "docs/files.md")], ids=lambda pages: pages[0]
)
def test_every_command_of_a_first_page_runs(pages: tuple[str, ...], tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    repo.commit({"shop/news.py": "def tell_news(shop):\n    return shop.total()\n"})
    calls = [words[1:] for page in pages for words in command_lines(page) if words[0] == "codesum"]
    # It asks which shell started it, and a test may have none.
    calls = [words for words in calls if words != ["--install-completion"]]

    assert calls[0] == ["index", "."]
    for words in calls:
        done = fork_codesum(*words, cwd=repo.path, env={"CODESUM_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)})
        # The shop has no line that the example of grep finds.
        assert done.returncode == (words[0] == "grep"), (words, done.stdout, done.stderr)
