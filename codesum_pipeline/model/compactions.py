"""What stands in place of old rows that were compacted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """One text in place of many rows, with the evidence for it.

    `attestation` is the signed file as it was, which names the rows; `signature`
    is its signature. `claim` is the model's text, as the answer to
    `request_hash`, under the name `model_name_echoed`.
    """

    job_id: str
    attestation: str
    signature: str
    claim: str
    request_hash: str
    model_name_echoed: str
    cost_usd: float
    compacted_at: str
