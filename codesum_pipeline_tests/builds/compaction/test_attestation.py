"""The file of an attestation: one attestation, one sequence of bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.compaction.attestation import (
    Attestation,
    AttestedSource,
    Policy,
    Selection,
    read_attestation,
    read_signed,
)
from codesum_pipeline.foundation.data_model.errors import AttestationInvalid, SignatureInvalid

JOB = Attestation(
    job_id="cmp_1",
    attested_by="ops@example.org",
    attested_at="2026-06-15T12:00:00.000Z",
    kind="document_history",
    repository="shop",
    selection=Selection(before="2026-01-01T00:00:00.000Z", limit=2),
    sources=(AttestedSource("1:a.py", "blake3:1"), AttestedSource("2:ä.py", "blake3:2")),
    policy=Policy.TOMBSTONED,
    model="openai/archivist-1",
    prompt_template_blake3="blake3:t",
    max_output_bytes=1000,
    max_tokens=2048,
)


def edited(change: Callable[[dict[str, Any]], Any]) -> bytes:
    value = json.loads(JOB.to_bytes())
    change(value)
    return f"{json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def test_an_attestation_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_bytes(JOB.to_bytes())

    assert read_attestation(tmp_path / "job.json") == (JOB, JOB.to_bytes())


BROKEN = {
    "an empty file": (b"", "Input data was truncated"),
    "no JSON": (b"job_id: cmp_1", "JSON is malformed"),
    "no UTF-8": (JOB.to_bytes().replace("ä".encode(), b"\xe4"), "can't decode byte 0xe4"),
    "a list": (b"[]\n", "Expected `object`, got `array`"),
    "a field is missing": (edited(lambda value: value.pop("model")), "missing required field `model`"),
    "a field is unknown": (edited(lambda value: value.update(note="hurry")), "unknown fields"),
    "a field of another type": (
        edited(lambda value: value.update(max_output_bytes="many")),
        r"at `\$\.max_output_bytes`",
    ),
    "no bytes are allowed": (edited(lambda value: value.update(max_output_bytes=0)), r"at `\$\.max_output_bytes`"),
    "an unknown policy": (
        edited(lambda value: value.update(policy="burnt")),
        r"Invalid enum value 'burnt' - at `\$\.policy`",
    ),
    "no sources": (edited(lambda value: value.update(sources=[])), r"at `\$\.sources`"),
    "a source twice": (
        edited(lambda value: value["sources"].append(value["sources"][0])),
        "'1:a.py' occurs in it twice",
    ),
    "another format": (edited(lambda value: value.update(format="v2")), "its format is 'v2'"),
    "an empty job id": (edited(lambda value: value.update(job_id="")), r"at `\$\.job_id`"),
    "other spaces": (JOB.to_bytes().replace(b'","', b'", "'), "canonical form"),
    "a field twice": (JOB.to_bytes().replace(b'"model":', b'"model":"other","model":'), "canonical form"),
    "no line end": (JOB.to_bytes().rstrip(), "canonical form"),
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_no_attestation_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(AttestationInvalid, match=f"^attestation_invalid: .*{reason}"):
        Attestation.of(data)


def test_an_attestation_without_its_signature_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_bytes(JOB.to_bytes())

    with pytest.raises(SignatureInvalid, match=r"there is no .*job.json.sig: sign with"):
        read_signed(tmp_path / "job.json")
