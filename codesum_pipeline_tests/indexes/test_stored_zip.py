from pathlib import Path

import numpy as np
import pytest

from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.indexes.file_formats.stored_zip import (
    ALIGNMENT,
    Array,
    map_npz,
    map_tensor,
    member_spans,
    write_npz,
    write_tensor,
)

ARRAYS: dict[str, Array] = {
    "words": np.frombuffer(b"some bytes", dtype=np.uint8),
    "rows": np.arange(7, dtype=np.int32),
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "nothing": np.zeros((0, 4), dtype=np.float32),
    "format": np.array(b"csc"),
}


def test_numpy_reads_what_is_written(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", ARRAYS)

    with np.load(tmp_path / "a.npz") as loaded:
        assert {name: loaded[name].tolist() for name in loaded} == {name: a.tolist() for name, a in ARRAYS.items()}


def test_mapped_arrays_are_the_written_ones(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", ARRAYS)

    mapped = map_npz(tmp_path / "a.npz")

    assert {name: (a.dtype, a.shape, a.tolist()) for name, a in mapped.items()} == {
        name: (a.dtype, a.shape, a.tolist()) for name, a in ARRAYS.items()
    }
    assert not mapped["rows"].flags.writeable


def test_members_are_aligned_so_that_they_can_be_mapped(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", ARRAYS)

    assert {start % ALIGNMENT for start, _ in member_spans(tmp_path / "a.npz").values()} == {0}


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", ARRAYS)
    write_npz(tmp_path / "b.npz", dict(reversed(ARRAYS.items())))

    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("shape", [(0, 8), (1, 8), (300, 256)], ids=["no rows", "one row", "many rows"])
def test_torch_loads_the_tensor_without_unpickling_anything_else(tmp_path: Path, shape: tuple[int, int]) -> None:
    import torch

    matrix = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    write_tensor(tmp_path / "embeddings.pt", matrix)

    loaded = torch.load(tmp_path / "embeddings.pt", weights_only=True)

    assert loaded.dtype == torch.float32
    assert loaded.shape == shape
    assert np.array_equal(loaded.numpy(), matrix)
    assert np.array_equal(map_tensor(tmp_path / "embeddings.pt", shape[1]), matrix)


def test_a_tensor_of_another_width_is_refused(tmp_path: Path) -> None:
    write_tensor(tmp_path / "embeddings.pt", np.zeros((3, 8), dtype=np.float32))

    with pytest.raises(BrokenIndex, match="96 bytes are no rows of 7"):
        map_tensor(tmp_path / "embeddings.pt", 7)
