"""Every error the package raises, sorted by what the caller can do about it.

```text
CodesumError
├── ConfigurationError          fix the configuration: settings, repos.yaml, arguments
│   ├── UnknownRepository       a key that repos.yaml does not have
│   ├── InvalidKey              a key that cannot be a folder and partition name
│   ├── NotIndexedFile          a file that is in the repository and not in its index
│   ├── TemplateNotFound        a prompt template that is nowhere
│   ├── TemplateRenderError     a prompt template that cannot be used as it is
│   ├── BucketRefused           a bucket that is missing, or refuses the credentials
│   └── RefusedText             a provider of embeddings refuses what it is sent
├── SkippedFile                 skip and count this file
├── RefusedIndex                do without this compiler's index: it is damaged, or none
├── RetryLater                  try again: nothing is wrong with what was asked
│   ├── RepositoryUnavailable   git could not read the repository
│   │   ├── TookTooLong         git was ended at git_timeout_s
│   │   └── ObjectsMissing      the repository lacks what was asked for: not before somebody repairs it
│   ├── HostUnavailable         a code host's API wants to be asked later, or cannot be reached
│   ├── EmbedderUnavailable     a provider of embeddings failed again and again
│   ├── DeliveryFailed          a channel took no message, or nobody knows whether it did
│   ├── BucketUnavailable       a bucket could not be reached, or had too much to do
│   ├── ProviderUnusable        an OpenID provider cannot be asked, or its clock is another one
│   ├── RecordsUnavailable      the database of Dagster's records could not be reached
│   ├── BrokerUnavailable       the broker of the workers could not be reached
│   ├── LeaseLost               another worker took over a repository that this one was slow to build
│   ├── LeaseHeld               another build of the same repository is under way
│   └── BeingIndexed            the first index of a repository is being made
├── NotAdmitted                 sign in again: this token is none that is valid here and now
│   └── OpensNothing            ask whoever runs the server: the person is known, and may read nothing
├── WriteConflict               read again: an object of a bucket is another one than the writer has seen
│   ├── AlreadyThere            it was to be created
│   └── Superseded              it was to be replaced
├── ProcessGone                 do it again: of the two processes of a build, one ended before the other
├── CannotWrite                 do not retry before the disk has room, or can be written
├── DeliveryRefused             do not retry: a channel will never take this message
├── HeldBack                    do not retry: the promotion gate keeps this candidate from being published
├── UnusableVectors             do not retry: an embedding model answered what was not asked
├── SummaryError                a model's text could not be had; the extractive one is kept
│   ├── BackendNotConfigured    no backend, or a replay without this request
│   ├── ModelNotInAllowlist     refused before any call
│   ├── PromptTemplateMismatch  refused before any call
│   ├── SummaryCallFailed       the call: transport, provider, time-out, credentials
│   └── SummaryOutputInvalid    the answer, after all repairs
├── DigestGatedOff              write without a model: none may be asked
│   └── DigestCapReached        the call could pass a cap in dollars
├── CompactionRefused           do not retry: nothing was changed, and what is wrong is said
│   ├── AttestationInvalid      the file is no attestation
│   ├── SignatureInvalid        it is not signed, or was changed after it was signed
│   ├── SignerNotAllowed        the signer may not sign this
│   ├── SignerExpired           the signer may not sign it now
│   ├── SourcesChanged          the rows are not those that were attested
│   ├── JobReused               another attestation of that job id was carried out
│   ├── PromptTooLong           the rows do not fit into the model's prompt
│   └── CompactionCapReached    the call could pass a cap in dollars
├── BundleRefused               do not retry: a shared build is not taken or not made; nothing was changed
└── BrokenStore                 do not retry: what is stored contradicts itself
    ├── MissingTable            a step ran before the step it reads from
    ├── DamagedTable            a file of a table cannot be read; a build makes that table anew
    ├── SchemaMismatch          written by another version of the package
    │   └── OlderRelease        published by a newer one
    └── BrokenIndex             a published index that fails its manifest
```

A message names the thing, its value and the way out. Only the ways in (command
line, Dagster) catch the root.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from typing import Any


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """An error and those that led to it, each once."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


class CodesumError(Exception):
    """The root of the tree: caught by the ways in, and nowhere else."""


class ConfigurationError(CodesumError):
    """Something that a person configured cannot work."""


class UnknownRepository(ConfigurationError):
    """A repository key that the registry does not have."""


class InvalidKey(ConfigurationError):
    """A repository key that cannot be a folder and partition name."""


class NotIndexedFile(ConfigurationError):
    """A file that is in a repository and not in its index; the message says why, and what would bring it in."""


class TemplateNotFound(ConfigurationError):
    """A prompt template that neither the project's folder nor the package has."""


class TemplateRenderError(ConfigurationError):
    """A prompt template that cannot be used: an unknown placeholder, a stray brace, too large, not text."""


class BucketRefused(ConfigurationError):
    """A bucket is missing, or refuses the credentials in the environment."""


class RefusedText(ConfigurationError):
    """A provider of embeddings refuses a request: for one of its texts, or it would refuse any."""


class SkippedFile(CodesumError):
    """One file cannot be indexed; the others go on."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class NotParsed(CodesumError):
    """A file that its parser cannot read now; the next build tries again."""


class RefusedIndex(CodesumError):
    """A compiler's index cannot be used; what it would say is left out."""


class RetryLater(CodesumError):
    """The same request can succeed at another time."""


class RepositoryUnavailable(RetryLater):
    """Git could not reach or read the repository."""


class TookTooLong(RepositoryUnavailable):
    """Git was ended since it took longer than it may."""


class ObjectsMissing(RepositoryUnavailable):
    """The repository lacks objects of what was asked for; another try helps once they are there."""


class HostUnavailable(RetryLater):
    """A code host's API could not be asked now; after `retry_after_s`, if it says so."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class ProviderUnusable(RetryLater):
    """Nobody can be told by this OpenID provider now: it does not answer, or not as it should."""


class NotAdmitted(CodesumError):
    """A token or sign-in that is not valid. `person` is whom it names; None where nobody has signed it."""

    def __init__(self, detail: str, *, person: str | None = None) -> None:
        super().__init__(detail)
        self.person = person


class OpensNothing(NotAdmitted):
    """A valid token or sign-in of somebody who may read no repository."""


class LeaseHeld(RetryLater):
    """Another build of the same repository is under way."""


class BucketUnavailable(RetryLater):
    """A bucket could not be reached, or had too much to do."""


class RecordsUnavailable(RetryLater):
    """The database of Dagster's records could not be reached."""


class BrokerUnavailable(RetryLater):
    """The broker through which workers get their runs could not be reached."""


class LeaseLost(RetryLater):
    """Another worker took over a repository; what this one built since its last commit is not kept."""


class BeingIndexed(RetryLater):
    """A repository has no index yet, and gets one at this moment."""


class EmbedderUnavailable(RetryLater):
    """A provider of embeddings could not be reached, or had too much to do."""


class DeliveryFailed(RetryLater):
    """A channel did not take a message now. `may_have_arrived` where the message went out and no answer came."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None, may_have_arrived: bool = False) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s
        self.may_have_arrived = may_have_arrived


class DeliveryRefused(CodesumError):
    """A channel refused a message in a way that another try does not change."""


class WriteConflict(CodesumError):
    """A conditional write found another object than its writer had seen; nothing was written."""


class AlreadyThere(WriteConflict):
    """An object that was to be created is there."""


class Superseded(WriteConflict):
    """An object that was to be replaced is another one by now."""


class ProcessGone(CodesumError):
    """The building process or the recording process ended before the other was done."""


class CannotWrite(CodesumError):
    """The system refuses to write a file: no space, a limit, or read-only."""


class HeldBack(CodesumError):
    """The promotion gate keeps a candidate from being published."""


class UnusableVectors(CodesumError):
    """An embedding model gave too many or too few vectors, or such that cannot be compared."""


class DiscriminatedError(CodesumError):
    """Its message starts with the discriminator of its kind, which scripts may look for."""

    discriminator = "error"

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.discriminator}: {detail}" if detail else self.discriminator)


class SummaryError(DiscriminatedError):
    """A text could not be had from a model; `kind` is one word for why, as rows of the ledger have it."""

    discriminator = "summary_error"
    kind = "unusable-answer"


class BackendNotConfigured(SummaryError):
    """There is no backend, or none that holds an answer to this request."""

    discriminator = "summary_backend_not_configured"
    kind = "no-backend"


class ModelNotInAllowlist(SummaryError):
    """The pinned model may not be asked; nothing was sent."""

    discriminator = "summary_model_not_in_allowlist"
    kind = "model-not-allowed"


class PromptTemplateMismatch(SummaryError):
    """The pinned template is not the one that would be sent; nothing was sent."""

    discriminator = "summary_prompt_template_mismatch"
    kind = "template-mismatch"


class CallFailure(StrEnum):
    """What went wrong with a call. `FILTERED`: the provider does not let what was sent reach the model. `FORM`: the
    server cannot do the form in which an answer was asked for. `IN_ANSWER`: the provider sent an error where it had
    begun to answer."""

    CREDENTIALS = "credentials"
    RATE_LIMIT = "rate-limit"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER = "server"
    REFUSED = "refused"
    FILTERED = "filtered"
    FORM = "form-refused"
    UNREADABLE = "unreadable"
    IN_ANSWER = "error-in-answer"


_PASSING = (
    CallFailure.RATE_LIMIT,
    CallFailure.TIMEOUT,
    CallFailure.CONNECTION,
    CallFailure.SERVER,
    CallFailure.IN_ANSWER,
)


class SummaryCallFailed(SummaryError):
    """A call that gave no answer. `is_passing` ones may go well at another time, after `retry_after_s` if it says so.

    `was_sent` is False where certainly nothing was asked, and so nothing is paid for.
    """

    discriminator = "summary_call_failed"

    def __init__(
        self, detail: str, *, failure: CallFailure, retry_after_s: float | None = None, was_sent: bool = True
    ) -> None:
        super().__init__(detail)
        self._detail = detail
        self.failure = failure
        self.kind = failure.value
        self.retry_after_s = retry_after_s
        self.was_sent = was_sent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as it was made."""
        made = partial(
            SummaryCallFailed, failure=self.failure, retry_after_s=self.retry_after_s, was_sent=self.was_sent
        )
        return made, (self._detail,)

    @property
    def is_passing(self) -> bool:
        """Whether the same request may go well later."""
        return self.failure in _PASSING


class SummaryOutputInvalid(SummaryError):
    """An answer that is not what was asked for: another model's, empty, too long, or wrong after all repairs."""

    discriminator = "summary_output_validation_failed"


class DigestGatedOff(DiscriminatedError):
    """No model may be asked for a digest: offline, switched off, or a cap."""

    discriminator = "digest_gated_off"


class DigestCapReached(DigestGatedOff):
    """The next call could pass a cap in dollars; it was not made."""

    discriminator = "digest_cost_cap_reached"


class CompactionRefused(DiscriminatedError):
    """Rows are not compacted as their attestation says. Nothing was changed."""

    discriminator = "compaction_refused"


class AttestationInvalid(CompactionRefused):
    """A file that is no attestation, or not in its canonical form."""

    discriminator = "attestation_invalid"


class SignatureInvalid(CompactionRefused):
    """There is no signature, none that can be read, or it is not one of this file."""

    discriminator = "attestation_signature_invalid"


class SignerNotAllowed(CompactionRefused):
    """The key that signed is not one of the attestation's operator, or not for this purpose."""

    discriminator = "attestation_signer_not_allowed"


class SignerExpired(CompactionRefused):
    """The key that signed is allowed at another time."""

    discriminator = "attestation_signer_expired"


class SourcesChanged(CompactionRefused):
    """The rows that the selection finds now are not those that were attested."""

    discriminator = "attestation_sources_changed"


class JobReused(CompactionRefused):
    """A job id belongs to one attestation; another one with the same id was carried out."""

    discriminator = "attestation_job_reused"


class PromptTooLong(CompactionRefused):
    """The rows do not fit into the model's prompt, and none of them may be left out."""

    discriminator = "compaction_prompt_too_long"


class CompactionCapReached(CompactionRefused):
    """The call could pass a cap in dollars; it was not made."""

    discriminator = "compaction_cost_cap_reached"


class BundleRefused(CodesumError):
    """A shared build is not taken, or none can be made; nothing was changed."""


class BrokenStore(CodesumError):
    """The stored data is inconsistent; a rebuild repairs it."""


class MissingTable(BrokenStore):
    """A step ran before the step whose table it reads."""


class DamagedTable(BrokenStore):
    """The file of one `table` of a repository cannot be read, or was overwritten."""

    def __init__(self, message: str, *, table: str) -> None:
        super().__init__(message)
        self.table = table


class SchemaMismatch(BrokenStore):
    """A table was written by another version of the package."""


class OlderRelease(SchemaMismatch):
    """A build by a release of the package that is older than the one that published the repository."""


class BrokenIndex(BrokenStore):
    """A published index does not agree with its manifest."""
