"""Where a repository may be, and what a person reads about it."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.ids import check_repository_key
from codesum_pipeline.source.git.locations import find_root, is_url, key_base, parse_location, slug_of


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/pallets/flask.git",
        "https://user:secret@example.org/a/b",
        "ssh://git@example.org:2222/a/b.git",
        "git@github.com:pallets/flask.git",
        "example.org:flask",
    ],
)
def test_a_url_that_git_may_be_given_stays_as_it_is(url: str, tmp_path: Path) -> None:
    assert parse_location(url, base=tmp_path) == url
    assert is_url(url)


def test_a_path_becomes_absolute_from_the_given_folder(tmp_path: Path) -> None:
    assert parse_location("../other", base=tmp_path / "here") == str(tmp_path / "other")
    assert parse_location(f"file://{tmp_path}/a%20b", base=tmp_path) == str(tmp_path / "a b")


def test_a_folder_with_a_colon_in_its_name_is_a_path_when_it_exists(tmp_path: Path) -> None:
    (tmp_path / "host:name").mkdir()

    assert parse_location("host:name", base=tmp_path) == str(tmp_path / "host:name")


@pytest.mark.parametrize(
    "location",
    [
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "http://example.org/a/b",
        "git://example.org/a/b",
        "ftp://example.org/a",
        "https://",
        "https://example.org",
        "ssh://-oProxyCommand=x/a",
        "file://elsewhere/a",
        "https://example.org/a\nb",
        "https://[::1/a/b",
        "https://[fe80::1%eth0]/a/b",
        "https://host/a/b?token=s3cret",
        "https://host/a/b#s3cret",
        "https://host/a/b;token=s3cret",
        "https://host/a/b&token=s3cret",
        "https://host/a/b%3Ftoken=s3cret",
        "https://host/a/b?",
        "https://user:pa/s3cret@host/a",
        "https://user:12/s3cret@host/a",
        "https://user:s3cret?x@host/a",
        "https://user:s3cret#x@host/a",
        "https://user:a\\s3cret@host/a",
        "https://user:s%0A3cret@host/a",
        "https://host:99999/a",
        "https:/user:s3cret@host/a",
        "https:user:s3cret@host/a",
        "https:%2F%2Fuser:s3cret@host/a",
        " https://user:s3cret@host/a",
        "https://user:s3cret@host/a b",
        "ssh://user:s3cret@host/a",
        "user:s3cret@host:a/b",
        "user:s3cret@host/a",
        "s3cret@host/a",
        "//user:s3cret@host/a",
        "git@host:a/b?token=s3cret",
        "git+https://user:s3cret@host/a",
        "file://user:s3cret@localhost/a",
        "file:///a/b?s3cret",
        "unknown://s3cret@host/a",
        "",
        "  ",
    ],
)
def test_other_transports_options_and_control_characters_are_refused(location: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^(location |a location that cannot be read: )"):
        parse_location(location, base=tmp_path)


@pytest.mark.parametrize(
    ("location", "slug"),
    [
        ("https://github.com/pallets/flask.git", "pallets/flask"),
        ("https://github.com/pallets/flask/", "pallets/flask"),
        ("git@github.com:pallets/flask.git", "pallets/flask"),
        ("ssh://git@gitlab.example.org:22/group/sub/name.git", "group/sub/name"),
        ("git@example.org:flask.git", None),
        ("/home/pallets/flask", None),
    ],
)
def test_the_slug_is_owner_and_name_of_a_url(location: str, slug: str | None) -> None:
    assert slug_of(location) == slug


@pytest.mark.parametrize(
    ("location", "subdir", "key"),
    [
        ("https://github.com/pallets/flask.git", "", "flask"),
        ("git@host:flask.git", "", "flask"),
        ("https://user:s3cret@host/pallets/flask.git", "", "flask"),
        ("https://host/pallets/flask.git?token=s3cret", "", "flask"),
        ("https://host/pallets/flask#s3cret", "", "flask"),
        ("git@host:pallets/flask.git;s3cret", "", "flask"),
        ("/home/me/My Project!", "", "My-Project"),
        ("/home/me/.dotfiles", "", "dotfiles"),
        ("/home/me/a..b", "", "a.b"),
        ("/home/me/x.lock", "", "x"),
        ("/home/me/x.git.git/", "", "x"),
        ("/home/me/ünï", "", "n"),
        ("/home/me/日本", "", "repository"),
        ("/", "", "repository"),
        ("/home/me/mono", "services/api", "mono-api"),
        ("/home/me/" + "x" * 300, "", "x" * 90),
    ],
)
def test_a_key_made_from_a_location_is_valid(location: str, subdir: str, key: str) -> None:
    assert key_base(location, subdir=subdir) == key
    assert check_repository_key(key) == key


def test_the_root_of_a_folder_inside_a_repository_is_the_git_root(tmp_path: Path) -> None:
    (tmp_path / "mono" / ".git").mkdir(parents=True)
    inside = tmp_path / "mono" / "services" / "api"
    inside.mkdir(parents=True)

    assert find_root(inside) == (tmp_path / "mono", "services/api")
    assert find_root(tmp_path / "mono") == (tmp_path / "mono", "")


def test_a_folder_outside_git_is_its_own_root(tmp_path: Path) -> None:
    assert find_root(tmp_path) == (tmp_path, "")
