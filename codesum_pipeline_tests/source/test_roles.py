import pytest

from codesum_pipeline.source.roles import Role, role_of

CASES = {
    "src/auth.py": Role.SOURCE,
    "libexec/rbenv-install": Role.SOURCE,
    "Rakefile": Role.SOURCE,
    "README.md": Role.PROSE,
    "LICENSE": Role.PROSE,
    "docs/guide.rst": Role.PROSE,
    "CHANGELOG.md": Role.HISTORY,
    "Changes": Role.HISTORY,
    "History.md": Role.HISTORY,
    "docs/release-notes.md": Role.HISTORY,
    "changelogs/2.1.md": Role.HISTORY,
    "docs/migration-v2-to-v3.md": Role.HISTORY,
    "src/history.py": Role.SOURCE,
    "lib/news/feed.rb": Role.SOURCE,
    "db/migrate/001_users.rb": Role.SOURCE,
    "package.json": Role.DATA,
    ".github/workflows/test.yml": Role.DATA,
    "CMakeLists.txt": Role.DATA,
    "examples/chat/main.go": Role.EXAMPLE,
    "benchmarks/parse.cpp": Role.EXAMPLE,
    "docs/conf.py": Role.EXAMPLE,
    "src/example.py": Role.SOURCE,
    "sample.rs": Role.SOURCE,
}


@pytest.mark.parametrize(("path", "role"), CASES.items(), ids=CASES)
def test_a_path_shows_what_its_file_is_written_for(path: str, role: Role) -> None:
    assert role_of(path) is role
