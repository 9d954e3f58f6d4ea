"""Where the modules of a crate lie that has a root of its own."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of


@pytest.mark.parametrize(
    "target",
    [
        '[[bin]]\nname = "rg"\npath = "crates/core/main.rs"\n',
        '[lib]\npath = "crates/core/main.rs"\n',
        '[[bin]]\npath = "src/main.rs"\n[[bin]]\npath = "crates/core/main.rs"\n',
    ],
    ids=["a program", "a library", "the second program"],
)
def test_modules_lie_beside_the_root_that_the_manifest_names(target: str) -> None:
    sources = {
        "Cargo.toml": f'[package]\nname = "rg"\n{target}',
        "crates/core/main.rs": "mod flags;\nuse crate::flags::parse;\nfn main() { parse(); }\n",
        "crates/core/flags/mod.rs": "pub fn parse() { crate::flags::hi::args(); }\npub mod hi;\n",
        "crates/core/flags/hi.rs": "pub fn args() {}\n",
    }

    assert calls_of(sources).keys() == {
        ("crates/core/main.rs::main", "crates/core/flags/mod.rs::parse"),
        ("crates/core/flags/mod.rs::parse", "crates/core/flags/hi.rs::args"),
    }


def test_without_a_manifest_a_crate_is_where_its_folder_of_sources_is() -> None:
    sources = {
        "apps/a/src/main.rs": "mod flags;\nuse crate::flags::parse;\nfn main() { parse(); }\n",
        "apps/a/src/flags/mod.rs": "pub fn parse() { super::flags::hi::args(); }\npub mod hi;\n",
        "apps/a/src/flags/hi.rs": "pub fn args() {}\n",
        "apps/b/src/main.rs": "mod flags;\nfn main() { crate::flags::parse(); }\n",
        "apps/b/src/flags.rs": "pub fn parse() {}\n",
    }

    assert calls_of(sources).keys() == {
        ("apps/a/src/main.rs::main", "apps/a/src/flags/mod.rs::parse"),
        ("apps/a/src/flags/mod.rs::parse", "apps/a/src/flags/hi.rs::args"),
        ("apps/b/src/main.rs::main", "apps/b/src/flags.rs::parse"),
    }
