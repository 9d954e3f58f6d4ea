"""An attested job: what it does, and every way in which it is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.compaction.attestation import Attestation, Policy, Selection, SignedAttestation
from codesum_pipeline.builds.compaction.compactable_rows import TABLE
from codesum_pipeline.builds.compaction.compacting import CompactionResult, Compactor, compaction_template, request_of
from codesum_pipeline.foundation.data_model.document import Cause, HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CodesumError,
    CompactionCapReached,
    ConfigurationError,
    JobReused,
    LeaseHeld,
    ModelNotInAllowlist,
    PromptTemplateMismatch,
    PromptTooLong,
    SignatureInvalid,
    SignerExpired,
    SignerNotAllowed,
    SourcesChanged,
    SummaryCallFailed,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline.texts.llm.recordings import write_recording
from codesum_pipeline_tests.support.compaction_home import (
    BEFORE_2026,
    CLAIM,
    HISTORY,
    MODEL,
    NOW,
    OF_OLD_PROMPT,
    OLD_IDS,
    OLD_PROMPT,
    OPS,
    PROMPT_IN_USE,
    REPO,
    OldHome,
    history_row,
    kept_text,
    signed,
)
from codesum_pipeline_tests.support.llm_server import Fails, Says, ScriptedServer
from codesum_pipeline_tests.support.settings import changed

NO_REQUESTS: list[str] = []


def run(home: OldHome, job: Attestation | SignedAttestation) -> CompactionResult:
    return home.compactor.run(signed(job) if isinstance(job, Attestation) else job, home.history_rows)


def standing_rows() -> list[HistoryRow]:
    return [row for row in HISTORY if f"{row.sequence}:{row.id}" not in OLD_IDS]


def test_old_rows_of_the_history_become_one_row_of_the_models_text(home: OldHome, server: ScriptedServer) -> None:
    job = home.attest()

    done = run(home, job)

    record = done.record
    *rest, added = home.history()
    assert [source.id for source in job.sources] == OLD_IDS
    assert rest == standing_rows()
    assert added == HistoryRow(
        sequence=11,
        id=job.job_id,
        level=Level.MODULE,
        event=HistoryEvent.COMPACTED,
        cause=None,
        cause_ids=(),
        writer=f"llm/{MODEL}",
        written_by=WrittenBy.LLM,
        summary_hash=record.request_hash,
        text_hash=added.text_hash,
        run_id=job.job_id,
        commit="c0ffee6",
        written_at="2026-06-15T12:00:00.000Z",
        cost_usd=record.cost_usd,
        compaction=record,
    )
    assert record.claim == CLAIM
    assert record.attestation.encode() == job.to_bytes()
    assert record.model_name_echoed == server.seen[0].model
    assert not done.is_done_before


def test_what_is_paid_is_on_the_books(home: OldHome) -> None:
    job = home.attest()

    record = run(home, job).record

    assert home.outcomes(job.job_id) == ["good"]
    assert home.spent() == record.cost_usd > 0


def test_the_rows_stay_where_the_policy_keeps_them(home: OldHome) -> None:
    record = run(home, home.attest(policy=Policy.KEPT)).record

    assert home.history()[:-1] == HISTORY
    assert home.history_rows.compactions() == [record]


def test_rows_that_are_kept_are_not_compacted_again(home: OldHome) -> None:
    run(home, home.attest(policy=Policy.KEPT))

    with pytest.raises(ConfigurationError, match="no old rows"):
        home.attest()


def test_what_says_something_of_a_text_that_stands_is_never_compacted(home: OldHome) -> None:
    all_of_time = Selection(before="2099-01-01T00:00:00.000Z")

    assert [row.id for row in home.history_rows.rows(all_of_time)] == OLD_IDS


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        pytest.param(Selection(before="2025-04-01T00:00:00.000Z"), OLD_IDS[:3], id="older than a day"),
        pytest.param(replace(BEFORE_2026, ids="shop/pay.py*"), [OLD_IDS[0], OLD_IDS[2]], id="by a pattern of ids"),
        pytest.param(replace(BEFORE_2026, limit=2), OLD_IDS[:2], id="the oldest ones"),
    ],
)
def test_a_selection_says_which_rows_are_meant(home: OldHome, selection: Selection, ids: list[str]) -> None:
    assert [row.id for row in home.history_rows.rows(selection)] == ids


@pytest.mark.parametrize("policy", list(Policy))
def test_texts_of_an_old_prompt_version_become_one_text(home: OldHome, policy: Policy) -> None:
    texts, job = home.texts(), home.attest_texts(policy=policy)

    record = home.compactor.run(signed(job), home.prompt_texts).record

    gone = 3 if policy is Policy.TOMBSTONED else 0
    assert [source.id for source in job.sources] == [text.exact_key for text in texts[:3]]
    assert home.texts() == texts[gone:]
    assert home.prompt_texts.compactions() == [record]
    assert record.claim == CLAIM


def test_texts_of_a_prompt_version_in_use_are_not_compacted(home: OldHome) -> None:
    with pytest.raises(ConfigurationError, match="builds write with it now"):
        home.prompt_texts.rows(Selection(prompt_version=PROMPT_IN_USE))


@pytest.mark.parametrize(
    ("kind", "selection", "message"),
    [
        pytest.param("history", Selection(), "--before", id="a history without a day"),
        pytest.param("history", replace(BEFORE_2026, prompt_version="x"), "--prompt-version", id="of a prompt version"),
        pytest.param("digests", Selection(), "--before", id="digests without a day"),
        pytest.param(
            "digests", replace(BEFORE_2026, prompt_version="x"), "--prompt-version", id="digests of a version"
        ),
        pytest.param("texts", Selection(), "--prompt-version", id="texts without a prompt version"),
        pytest.param("texts", replace(OF_OLD_PROMPT, ids="a*"), "--ids", id="texts by ids"),
    ],
)
def test_a_selection_that_says_nothing_to_its_rows_is_refused(
    home: OldHome, kind: str, selection: Selection, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        home.source(kind).rows(selection)


def test_the_model_is_shown_every_row_in_the_attested_order(home: OldHome, server: ScriptedServer) -> None:
    job = home.attest()
    rows = {row.id: row.text for row in home.history_rows.rows(BEFORE_2026)}

    run(home, replace(job, sources=tuple(reversed(job.sources))))

    (request,) = server.seen
    places = [request.prompt.index(rows[id_]) for id_ in reversed(OLD_IDS)]
    assert places == sorted(places)
    assert request.model == MODEL.partition("/")[2]


def test_the_attested_job_id_is_in_the_hash_of_the_request(home: OldHome) -> None:
    job = home.attest()
    rows, template = home.history_rows.rows(BEFORE_2026), compaction_template(home.settings)

    hashes = {
        request_of(each, rows, template, home.settings.llm).request_hash
        for each in (
            job,
            job,
            replace(job, job_id="another"),
            replace(job, max_output_bytes=7),
            replace(job, model="m"),
        )
    }

    assert len(hashes) == 4


def test_secrets_in_rows_do_not_leave_the_machine(home: OldHome, server: ScriptedServer) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    home.tables.write_rows(TABLE, REPO, [*HISTORY, history_row(11, f"{token}.py", "2025-01-01", "x")], HistoryRow)
    gone = replace(history_row(12, f"{token}.py", "2025-01-02", "x"), event=HistoryEvent.REMOVED)
    home.tables.write_rows(TABLE, REPO, [*home.history(), gone], HistoryRow)

    run(home, home.attest())

    assert token not in server.seen[0].prompt
    assert "«masked" in server.seen[0].prompt


def test_a_history_from_before_there_were_compactions_is_compacted(home: OldHome) -> None:
    path = home.tables.path(TABLE, REPO)
    pq.write_table(pq.read_table(path).drop_columns(["compaction"]), path)

    record = run(home, home.attest(policy=Policy.KEPT)).record

    assert home.history()[:-1] == HISTORY
    assert home.history_rows.compactions() == [record]


def setting(**llm: Any) -> Callable[[OldHome, Attestation], Attestation]:
    def change(home: OldHome, job: Attestation) -> Attestation:
        home.set(**llm)
        return job

    return change


def go_offline(home: OldHome, job: Attestation) -> Attestation:
    home.settings = changed(home.settings, offline=True)
    return job


def edit_template(home: OldHome, job: Attestation) -> Attestation:
    folder = home.settings.prompts_dir / "system"
    folder.mkdir(parents=True)
    (folder / "compaction.md").write_text("Be brief, in {language}.")
    return job


def remove_signers(home: OldHome, job: Attestation) -> Attestation:
    home.settings.compaction.allowed_signers.write_text("# nobody\n")
    return job


def let_signers_expire(home: OldHome, job: Attestation) -> Attestation:
    signers = home.settings.compaction.allowed_signers
    signers.write_text(signers.read_text().replace("2099", "2020"))
    return job


def write_history(home: OldHome, rows: list[HistoryRow]) -> None:
    home.tables.write_rows(TABLE, REPO, rows, HistoryRow)


def change_a_row(home: OldHome, job: Attestation) -> Attestation:
    write_history(home, [replace(row, writer="another") if row.sequence == 2 else row for row in HISTORY])
    return job


def lose_a_row(home: OldHome, job: Attestation) -> Attestation:
    write_history(home, [row for row in HISTORY if row.sequence != 2])
    return job


def add_a_row(home: OldHome, job: Attestation) -> Attestation:
    write_history(home, [*HISTORY, history_row(11, "shop/gone.py", "2025-02-02", "gone", event=HistoryEvent.REMOVED)])
    return job


def bring_a_text_back(home: OldHome, job: Attestation) -> Attestation:
    write_history(home, [*HISTORY, history_row(11, "shop/pay.py::pay", "2026-06-01", "pay-2", cause=Cause.RESTORED)])
    return job


def drop_a_source(home: OldHome, job: Attestation) -> Attestation:
    return replace(job, sources=job.sources[1:])


def cap_the_job(home: OldHome, job: Attestation) -> Attestation:
    home.settings = changed(home.settings, compaction={"max_cost_usd_per_job": 0.0001})
    return job


def cap_the_day(home: OldHome, job: Attestation) -> Attestation:
    home.settings = changed(home.settings, compaction={"max_cost_usd_per_day": 0.0001})
    return job


BEFORE_ANY_CALL: dict[str, tuple[Callable[[OldHome, Attestation], Attestation], type[CodesumError], str]] = {
    "llm.enabled is false": (setting(enabled=False), BackendNotConfigured, "summary_backend_not_configured: no model"),
    "codesum is offline": (go_offline, BackendNotConfigured, "summary_backend_not_configured: codesum is offline"),
    "the backend is noop": (
        setting(backend=BackendName.NOOP), BackendNotConfigured, "summary_backend_not_configured: llm.backend"
    ),
    "the model is off the allowlist": (
        setting(allowlist=("openai/other",)), ModelNotInAllowlist, "summary_model_not_in_allowlist: 'openai/arch"
    ),
    "the template changed": (edit_template, PromptTemplateMismatch, "summary_prompt_template_mismatch: "),
    "the language changed": (setting(language="German"), PromptTemplateMismatch, "summary_prompt_template_mismatch: "),
    "the signer is not allowed": (remove_signers, SignerNotAllowed, "attestation_signer_not_allowed: "),
    "the signer's time is over": (let_signers_expire, SignerExpired, "attestation_signer_expired: "),
    "a row says something else": (change_a_row, SourcesChanged, "attestation_sources_changed: 1 of .* say something"),
    "a row is gone": (lose_a_row, SourcesChanged, "attestation_sources_changed: 1 of .* are no old rows"),
    "there is a new row in between": (add_a_row, SourcesChanged, "attestation_sources_changed: 1 of .* not attested"),
    "a text stands again": (bring_a_text_back, SourcesChanged, "attestation_sources_changed: 1 of .* are no old rows"),
    "a source was dropped": (drop_a_source, SourcesChanged, "attestation_sources_changed: 1 of .* not attested"),
    "the job could cost too much": (cap_the_job, CompactionCapReached, "compaction_cost_cap_reached: .*per_job"),
    "the day could cost too much": (cap_the_day, CompactionCapReached, "compaction_cost_cap_reached: .*per_day"),
    "the rows do not fit": (setting(max_prompt_chars=1000), PromptTooLong, "compaction_prompt_too_long: 5 rows"),
    "the price is not known": (setting(prices=()), ConfigurationError, "price is not known"),
    "the key is missing": (
        setting(api_key_env="NOBODY_HAS_THIS_KEY"), SummaryCallFailed, "summary_call_failed: .*NOBODY_HAS_THIS_KEY"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "kind", "message"), BEFORE_ANY_CALL.values(), ids=BEFORE_ANY_CALL)
def test_what_is_not_as_attested_is_refused_before_any_call(
    home: OldHome,
    server: ScriptedServer,
    change: Callable[[OldHome, Attestation], Attestation],
    kind: type[CodesumError],
    message: str,
) -> None:
    job = change(home, home.attest())
    before = home.history()

    with pytest.raises(kind, match=f"^{message}" if message[0] != "p" else message):
        run(home, job)

    assert home.history() == before
    assert server.seen == []


@pytest.mark.parametrize(
    ("data", "key", "kind"),
    [
        pytest.param(b" ", "plain_key", SignatureInvalid, id="a byte was added"),
        pytest.param(b"", "another_key", SignerNotAllowed, id="another key signed"),
    ],
)
def test_a_file_that_the_operator_did_not_sign_is_refused(
    home: OldHome, server: ScriptedServer, data: bytes, key: str, kind: type[CodesumError]
) -> None:
    job = home.attest()

    with pytest.raises(kind):
        run(home, signed(job, data=job.to_bytes() + data, key=key))

    assert home.history() == HISTORY
    assert server.seen == []


AFTER_THE_CALL = {
    "another model answered": (Says(CLAIM, model="archivist-2"), SummaryOutputInvalid, "validation_failed: .*'archiv"),
    "a dated model answered": (Says(CLAIM, model="archivist-1-20260101"), SummaryOutputInvalid, "pin the name that"),
    "an alias answered": (Says(CLAIM, model="alias"), SummaryOutputInvalid, "pin the name that"),
    "the text is empty": (Says(" \n"), SummaryOutputInvalid, "summary_output_validation_failed: .*empty"),
    "the text is over the budget": (Says("ä" * 501), SummaryOutputInvalid, "of 1002 bytes, 1000 are allowed"),
    "the call failed": (Fails(400), SummaryCallFailed, "^summary_call_failed: "),
}


@pytest.mark.parametrize(("behaviour", "kind", "message"), AFTER_THE_CALL.values(), ids=AFTER_THE_CALL)
def test_an_answer_that_is_none_changes_no_row_and_is_on_the_books(
    home: OldHome, server: ScriptedServer, behaviour: Any, kind: type[CodesumError], message: str
) -> None:
    home.set(echoed_names={"alias": MODEL})
    server.script = lambda _request: behaviour
    job = home.attest()

    with pytest.raises(kind, match=message):
        run(home, job)

    assert home.history() == HISTORY
    assert len(server.seen) == 1
    assert home.outcomes(job.job_id) == ["failed" if kind is SummaryCallFailed else "invalid"]


def test_a_job_is_sent_with_the_parameters_of_its_model(home: OldHome, server: ScriptedServer) -> None:
    server.script = lambda _request: Says(CLAIM)
    home.set(parameters={MODEL: {"temperature": False, "max_tokens": "max_completion_tokens"}})

    run(home, home.attest())

    (request,) = server.seen
    assert "max_completion_tokens" in request.body
    assert not {"temperature", "max_tokens"} & {*request.body}


def test_a_call_that_fails_for_a_moment_is_made_again(home: OldHome, server: ScriptedServer) -> None:
    server.script = lambda _request: Fails(503, headers={"retry-after": "0"}) if len(server.seen) == 1 else Says(CLAIM)
    job = home.attest()

    assert run(home, job).record.claim == CLAIM
    assert home.outcomes(job.job_id) == ["failed", "good"]


class Careless(SummaryBackend):
    """A backend that checks nothing."""

    max_prompt_chars = 100_000

    def __init__(self, claim: str, echoed: str = MODEL) -> None:
        self.answer = SummaryResponse(claim, False, TokenUsage(1, 1), echoed, 0.0)

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        return self.answer

    async def health(self) -> bool:
        return True

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(Careless("x" * 1001), id="too long"),
        pytest.param(Careless("\t"), id="empty"),
        pytest.param(Careless(CLAIM, f"{MODEL}-20260101"), id="by a dated model"),
    ],
)
def test_an_answer_is_checked_again_behind_the_backend(home: OldHome, backend: Careless) -> None:
    compactor = replace(home.compactor, make_backend=lambda _settings, _templates: backend)

    with pytest.raises(SummaryOutputInvalid, match="^summary_output_validation_failed: "):
        compactor.run(signed(home.attest()), home.history_rows)

    assert home.history() == HISTORY


def test_a_job_that_is_done_is_not_done_again(home: OldHome, server: ScriptedServer) -> None:
    job = home.attest()
    first, after = run(home, job), home.history()
    # Nobody has to be allowed any more for what is done.
    remove_signers(home, job)

    again = run(home, job)

    assert again == CompactionResult(first.record, is_done_before=True)
    assert home.history() == after
    assert len(server.seen) == 1


def test_a_job_id_stands_for_one_attestation(home: OldHome) -> None:
    job = home.attest(policy=Policy.KEPT)
    run(home, job)

    with pytest.raises(JobReused, match=f"^attestation_job_reused: {job.job_id}"):
        run(home, replace(job, policy=Policy.TOMBSTONED))


@pytest.mark.parametrize("kind", ["history", "texts", "digests"])
def test_of_two_at_once_the_second_is_told_who_is_at_it(home: OldHome, server: ScriptedServer, kind: str) -> None:
    home.add_digests()
    source, job = home.source(kind), signed(home.attest_kind(kind))

    with source.held("the first job"), pytest.raises(LeaseHeld, match=r"run the first job, .* wait for it"):
        home.compactor.run(job, source)

    assert server.seen == []


def test_no_history_is_compacted_while_a_build_appends_to_it(home: OldHome, server: ScriptedServer) -> None:
    job = home.attest()

    with (
        hold_lease(HomeLayout(home.folder).state(REPO), key=REPO, run_id="a build"),
        pytest.raises(LeaseHeld, match="run a build"),
    ):
        run(home, job)

    assert server.seen == []


def test_texts_that_come_during_the_call_stop_the_change(home: OldHome, server: ScriptedServer) -> None:
    job, texts = home.attest_texts(), home.texts()
    late = kept_text(4)

    def meanwhile(_request: object) -> Says:
        home.cache.put_many([late])
        return Says(CLAIM)

    server.script = meanwhile
    with pytest.raises(SourcesChanged):
        home.compactor.run(signed(job), home.prompt_texts)

    assert home.texts() == [*texts[:3], late, *texts[3:]]
    assert home.prompt_texts.compactions() == []


def test_a_recording_carries_out_the_job_without_a_network_or_a_price(home: OldHome, tmp_path: Path) -> None:
    job = home.attest()
    home.set(backend=BackendName.RECORD, recording=tmp_path / "recorded")
    other = OldHome.at(tmp_path_of(tmp_path, "other"))
    recorded = run(home, job).record
    other.replay(tmp_path / "recorded")
    other.settings = changed(other.settings, offline=True)

    replayed = run(other, job).record

    assert replayed == recorded
    assert other.history() == home.history()
    assert other.spent() == 0


def tmp_path_of(folder: Path, name: str) -> Path:
    found = folder / name
    found.mkdir()
    return found


def test_a_recording_without_the_request_is_no_backend(home: OldHome, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    home.replay(tmp_path / "empty")

    with pytest.raises(BackendNotConfigured, match="^summary_backend_not_configured: .*record it first"):
        run(home, home.attest())


def test_a_recording_with_the_request_twice_is_refused(home: OldHome, tmp_path: Path) -> None:
    job = home.attest()
    request = request_of(
        job, home.history_rows.rows(BEFORE_2026), compaction_template(home.settings), home.settings.llm
    )
    entry = write_recording(tmp_path / "r", request, SummaryResponse(CLAIM, False, None, MODEL))
    entry.with_name("again.json").write_bytes(entry.read_bytes())
    home.replay(tmp_path / "r")

    with pytest.raises(SummaryCallFailed, match="^summary_call_failed: .*a second answer"):
        run(home, job)

    assert home.history() == HISTORY


def test_the_noop_backend_fails_closed_for_a_pinned_request(home: OldHome) -> None:
    job = home.attest()
    request = request_of(
        job, home.history_rows.rows(BEFORE_2026), compaction_template(home.settings), home.settings.llm
    )

    with pytest.raises(BackendNotConfigured, match="^summary_backend_not_configured"):
        asyncio.run(SummaryBackend(max_prompt_chars=1).summarize(request))


def test_checking_a_job_asks_nobody_and_refuses_what_a_run_would(home: OldHome, server: ScriptedServer) -> None:
    job = home.attest()
    compactor: Compactor = home.compactor

    assert compactor.check(signed(job), home.history_rows) is None
    with pytest.raises(SourcesChanged):
        compactor.check(signed(drop_a_source(home, job)), home.history_rows)
    done = run(home, job)

    assert compactor.check(signed(job), home.history_rows) == done.record
    assert len(server.seen) == 1
    assert compactor.make_backend is build_backend
    assert (job.attested_by, job.attested_at) == (OPS, NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z"))
    assert OLD_PROMPT not in {source.id for source in job.sources}
