"""A real `codesum dev` accepts requests of its own pages and of programs, and of no other page."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

import pytest
import requests
import websockets.sync.client
from websockets.exceptions import InvalidStatus

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.dagster_ui.guarded_ui import UiOptions, _exchanged, served_hosts
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.dagster_dev import LAUNCH, DagsterDev, dagster_dev, launch_params
from codesum_pipeline_tests.support.homes import open_home

pytestmark = pytest.mark.timeout(600)

PARAMETERS = {"query": LAUNCH, "variables": json.dumps({"params": launch_params()})}
BODY = json.dumps({"query": LAUNCH, "variables": {"params": launch_params()}})
JSON = {"Content-Type": "application/json"}
TIMEOUT_S = 60
FOREIGN = {
    "another site": "http://evil.example",
    "another port": "http://127.0.0.1:1",
    "another name of this machine": "http://localhost:1",
    "a file or a sandbox": "null",
}


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    folder = tmp_path_factory.mktemp("ui")
    with dagster_dev(open_home(folder / "home"), folder / "dagster.log") as running:
        yield running


def post(ui: DagsterDev, body: str, headers: Mapping[str, str], path: str = "/graphql") -> requests.Response:
    return requests.post(f"{ui.url}{path}", data=body, headers=dict(headers), timeout=TIMEOUT_S)


def refused(ui: DagsterDev, answer: requests.Response, why: str) -> bool:
    return answer.status_code == 403 and why in answer.text and ui.runs(dagster__partition="shop") == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_mutation_by_get_starts_nothing(ui: DagsterDev, method: str) -> None:
    answer = requests.request(method, f"{ui.url}/graphql?{urlencode(PARAMETERS)}", timeout=TIMEOUT_S)

    assert (answer.status_code, ui.runs(dagster__partition="shop")) == (403, [])


def test_a_query_by_get_is_answered(ui: DagsterDev) -> None:
    answer = requests.get(f"{ui.url}/graphql", params={"query": "{ version }"}, timeout=TIMEOUT_S)

    assert set(answer.json()["data"]) == {"version"}


def test_the_last_of_several_queries_in_an_address_is_looked_at_too(ui: DagsterDev) -> None:
    address = f"{ui.url}/graphql?query=%7Bversion%7D&{urlencode(PARAMETERS)}"

    assert refused(ui, requests.get(address, timeout=TIMEOUT_S), "is no query")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "text/plain; application/json", "application/x-www-form-urlencoded", "multipart/form-data", ""],
)
def test_a_body_as_forms_send_it_starts_nothing(ui: DagsterDev, kind: str) -> None:
    """Dagster itself takes the operation from the address then, or looks for a JSON type anywhere in the header."""
    answer = post(ui, BODY, {"Content-Type": kind}, f"/graphql?{urlencode(PARAMETERS)}")

    assert refused(ui, answer, "the content type is")


@pytest.mark.parametrize("origin", FOREIGN.values(), ids=FOREIGN)
def test_a_page_of_another_origin_starts_nothing(ui: DagsterDev, origin: str) -> None:
    assert refused(ui, post(ui, BODY, {**JSON, "Origin": origin}), "which is not this UI")


@pytest.mark.parametrize("origin", FOREIGN.values(), ids=FOREIGN)
def test_a_page_of_another_origin_may_not_ask_whether_it_may(ui: DagsterDev, origin: str) -> None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    answer = requests.options(f"{ui.url}/graphql", headers=headers, timeout=TIMEOUT_S)

    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:3000", "localhost.evil.example", "127.0.0.1@evil", "x y"]
)
def test_a_name_that_somebody_led_to_this_machine_is_not_answered(ui: DagsterDev, host: str) -> None:
    """With its Host, as after DNS rebinding, the page's origin is the request's own."""
    headers = {**JSON, "Host": host, "Origin": f"http://{host}"}

    assert refused(ui, post(ui, BODY, headers), "the request is for the host")
    assert requests.get(ui.url, headers={"Host": host}, timeout=TIMEOUT_S).status_code == 403


@pytest.mark.parametrize(
    "path", ["/report_asset_materialization/x", "/report_asset_check/x", "/report_asset_observation/x"]
)
def test_events_are_reported_by_no_form(ui: DagsterDev, path: str) -> None:
    assert refused(ui, post(ui, "", {"Content-Type": "text/plain"}, path), "the content type is")


def test_a_frame_or_a_picture_of_another_page_gets_nothing_and_a_link_leads_here(ui: DagsterDev) -> None:
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    status = {
        kind: requests.get(ui.url, headers={**sent, "Sec-Fetch-Dest": kind}, timeout=TIMEOUT_S).status_code
        for kind in ("iframe", "image", "document")
    }

    assert status == {"iframe": 403, "image": 403, "document": 200}
    assert requests.get(ui.url, timeout=TIMEOUT_S).headers["X-Frame-Options"] == "SAMEORIGIN"


def test_a_socket_of_another_page_is_refused_and_an_own_one_is_opened(ui: DagsterDev) -> None:
    address = f"{ui.url.replace('http', 'ws')}/graphql"
    for origin in FOREIGN.values():
        with pytest.raises(InvalidStatus, match="403"):
            websockets.sync.client.connect(address, origin=origin, subprotocols=["graphql-ws"])  # type: ignore[arg-type, list-item]

    with websockets.sync.client.connect(address, origin=ui.url, subprotocols=["graphql-ws"]) as own:  # type: ignore[arg-type, list-item]
        own.send(json.dumps({"type": "connection_init"}))
        assert json.loads(own.recv(timeout=TIMEOUT_S)) == {"type": "connection_ack"}


def test_what_was_refused_stands_in_the_log(ui: DagsterDev) -> None:
    post(ui, BODY, {**JSON, "Origin": "http://told.example"})

    assert "refused: the request comes from a page of 'http://told.example'" in ui.log.read_text()


@pytest.mark.slow
def test_a_run_config_that_names_an_address_ends_the_run_with_the_reason(ui: DagsterDev) -> None:
    config = {"settings": {"embedder_api_base": "http://127.0.0.1:9/"}}
    launched = ui.ask(LAUNCH, params=launch_params("sent", config))
    assert launched["__typename"] == "LaunchRunSuccess", launched

    (run,) = ui.finished(1, timeout_s=240, dagster__partition="sent")

    assert run["status"] == "FAILURE"


def test_its_own_page_starts_a_run(ui: DagsterDev) -> None:
    answer = post(
        ui, json.dumps({"query": LAUNCH, "variables": {"params": launch_params("own")}}), {**JSON, "Origin": ui.url}
    )

    assert answer.json()["data"]["launchRun"]["__typename"] == "LaunchRunSuccess"
    assert [run["runId"] for run in ui.runs(dagster__partition="own")]


def test_the_ui_answers_to_loopback_and_to_what_it_listens_on() -> None:
    assert served_hosts("127.0.0.1") == {"localhost", "127.0.0.1", "[::1]"}
    assert served_hosts("192.0.2.7", ["Box.LOCAL"]) >= {"192.0.2.7", "box.local"}
    assert "[fd00::7]" in served_hosts("fd00::7")
    assert "build.example" in served_hosts("Build.example")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_who_listens_on_every_address_says_which_names_are_answered(host: str) -> None:
    with pytest.raises(ConfigurationError, match="--allow-host NAME"):
        served_hosts(host)

    assert "build.example" in served_hosts(host, ["build.example"])
    assert host not in served_hosts(host, ["build.example"])


def test_codesum_dev_says_so_before_it_starts_anything(tmp_path: Path) -> None:
    done = fork_codesum("--home", tmp_path / "home", "dev", "--host", "0.0.0.0", cwd=tmp_path)

    assert (done.returncode, "--allow-host NAME" in done.stderr) == (2, True)
    assert not (tmp_path / "home" / "dagster").exists()


@pytest.mark.parametrize("name", ["http://x", "x:80", "x/y", "", "*", "[::1]:80"])
def test_what_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is no host name"):
        served_hosts("127.0.0.1", [name])


def test_a_process_that_is_not_known_is_not_started() -> None:
    with pytest.raises(RuntimeError, match="does not know how to guard"):
        _exchanged(["python", "-m", "dagster_webserver2"], UiOptions(["localhost"]))
