import pytest

from codesum_pipeline.foundation.language_facts.file_languages import FileRole, role_of

CASES = {
    "src/auth.py": FileRole.SOURCE,
    "libexec/rbenv-install": FileRole.SOURCE,
    "Rakefile": FileRole.SOURCE,
    "README.md": FileRole.PROSE,
    "LICENSE": FileRole.PROSE,
    "docs/guide.rst": FileRole.PROSE,
    "CHANGELOG.md": FileRole.HISTORY,
    "Changes": FileRole.HISTORY,
    "History.md": FileRole.HISTORY,
    "docs/release-notes.md": FileRole.HISTORY,
    "changelogs/2.1.md": FileRole.HISTORY,
    "docs/migration-v2-to-v3.md": FileRole.HISTORY,
    "src/history.py": FileRole.SOURCE,
    "lib/news/feed.rb": FileRole.SOURCE,
    "db/migrate/001_users.rb": FileRole.SOURCE,
    "package.json": FileRole.DATA,
    ".github/workflows/test.yml": FileRole.DATA,
    "CMakeLists.txt": FileRole.DATA,
    "examples/chat/main.go": FileRole.EXAMPLE,
    "benchmarks/parse.cpp": FileRole.EXAMPLE,
    "docs/conf.py": FileRole.EXAMPLE,
    "analysis/churn.ipynb": FileRole.EXAMPLE,
    "src/example.py": FileRole.SOURCE,
    "sample.rs": FileRole.SOURCE,
}


@pytest.mark.parametrize(("path", "role"), CASES.items(), ids=CASES)
def test_a_path_shows_what_its_file_is_written_for(path: str, role: FileRole) -> None:
    assert role_of(path) is role
