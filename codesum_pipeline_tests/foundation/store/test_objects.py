import sys

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import AlreadyThere, ConfigurationError, Superseded
from codesum_pipeline.foundation.store.object_storage import objects as store
from codesum_pipeline.foundation.store.object_storage.heads import RepositoryHead, head_infos, head_name, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects


@pytest.fixture
def objects(tmp_path) -> Objects:
    return open_objects(f"memory://{tmp_path}")


def test_of_two_who_create_an_object_one_succeeds(objects):
    objects.create("name", b"first")

    with pytest.raises(AlreadyThere, match="name is there already"):
        objects.create("name", b"second")
    assert objects.get("name").data == b"first"


def test_a_swap_with_the_tag_of_an_earlier_object_changes_nothing(objects):
    first = objects.create("name", b"first")
    second = objects.swap("name", b"second", etag=first)

    with pytest.raises(Superseded, match="name was replaced"):
        objects.swap("name", b"third", etag=first)
    assert objects.get("name").data == b"second"
    assert objects.get("name").etag == second


def test_a_conditional_write_that_was_done_and_not_answered_counts_as_done(objects):
    """The second try of a request whose first answer was lost finds its own bytes."""
    first = objects.create("name", b"first")
    second = objects.swap("name", b"second", etag=first)

    assert objects.create("name", b"second") == second
    assert objects.swap("name", b"second", etag=first) == second


def test_objects_are_listed_downloaded_and_deleted(objects, tmp_path):
    objects.put("parts/a", b"some text")
    objects.put("parts/b", b"more")
    objects.put("partsize", b"")

    assert [(info.name, info.size) for info in objects.infos("parts/")] == [("parts/a", 9), ("parts/b", 4)]
    assert objects.download("parts/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"some text"
    objects.delete(["parts/a", "parts/gone"])
    assert objects.get("parts/a") is None
    assert not objects.download("parts/a", tmp_path / "b")


@pytest.mark.parametrize("url", ["ftp://host/home", "s3://key:secret@bucket/home"], ids=["unknown kind", "credentials"])
def test_a_url_that_is_no_bucket_is_refused_without_telling_a_secret(url):
    with pytest.raises(ConfigurationError) as caught:
        open_objects(url)

    assert "secret" not in str(caught.value)


def test_a_head_that_is_written_again_has_another_tag(objects):
    head = RepositoryHead()
    first = objects.create(head_name("shop"), head.encoded())
    second = objects.swap(head_name("shop"), head.replaced().encoded(), etag=first)

    assert first != second
    assert replace(read_head(objects, "shop")[0], nonce=head.nonce) == head
    assert [(key, info.etag) for key, info in head_infos(objects)] == [("shop", second)]


@pytest.mark.parametrize("most", [1, 2, 1_000])
def test_objects_are_deleted_and_streamed_alike_in_many_parts_and_in_one(objects, tmp_path, monkeypatch, most):
    monkeypatch.setattr(store, "_DELETED_AT_ONCE", most)
    monkeypatch.setattr(store, "_STREAMED_BYTES", most)
    names = [f"parts/{number}" for number in range(5)]
    for name in names:
        objects.put(name, b"some text")

    assert objects.download(names[0], tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"some text"
    objects.delete([*names[:4], "parts/gone"])
    assert [info.name for info in objects.infos("parts/")] == names[4:]


def test_some_bytes_of_an_object_are_read_as_far_as_it_goes(objects):
    objects.put("name", b"0123456789")

    spans = [(2, 5), (8, 20), (10, 20), (15, 20)]
    assert [objects.read("name", *span) for span in spans] == [b"234", b"89", b"", b""]
    assert objects.read("gone", 0, 5) is None


def test_without_the_library_of_buckets_a_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)

    with pytest.raises(ConfigurationError, match=r"home 'memory://x': obstore, .* is not installed: .*'\.\[buckets\]'"):
        open_objects("memory://x")
