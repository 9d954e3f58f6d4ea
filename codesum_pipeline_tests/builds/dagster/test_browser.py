"""A real Dagster UI in a real Chromium, attacked from pages of somebody else. Run by `make test-browser`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline_tests.builds.dagster.digest_home import FILES, HOSTILE, SIGN_IN, DigestHome
from codesum_pipeline_tests.support.chromium import launch
from codesum_pipeline_tests.support.commands import run_codesum
from codesum_pipeline_tests.support.dagster_dev import LAUNCH, DagsterDev, dagster_dev, launch_params
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

# What an attacker's name server does: the name of the page leads to this machine.
REBOUND = "rebound.example"

# Every way that a page has to ask another server for something, one after the other.
ATTACK = """async ([target, body, query]) => {
  const socket = target.replace('http', 'ws') + '/graphql';
  const swallow = promise => promise.catch(error => String(error));
  const post = type => swallow(fetch(target + '/graphql?' + query,
    {method: 'POST', mode: 'no-cors', headers: {'Content-Type': type}, body}));
  await post('text/plain');
  await post('text/plain; application/json');
  await swallow(fetch(target + '/graphql', {method: 'POST', headers: {'Content-Type': 'application/json'}, body}));
  await swallow(fetch(target + '/graphql?' + query, {mode: 'no-cors'}));
  navigator.sendBeacon(target + '/graphql?' + query, body);
  await new Promise(done => { const image = new Image(); image.onload = image.onerror = done;
    image.src = target + '/graphql?' + query; });
  const frame = name => { const made = document.createElement('iframe'); made.name = name;
    document.body.append(made); return made; };
  const form = document.createElement('form');
  Object.assign(form, {method: 'POST', action: target + '/graphql?' + query, target: frame('answer').name});
  document.body.append(form);
  form.submit();
  frame('page').src = target + '/';
  const answer = await new Promise(done => { const made = new WebSocket(socket, 'graphql-ws');
    made.onopen = () => {
      made.send(JSON.stringify({type: 'start', id: '1', payload: JSON.parse(body)})); done('open'); };
    made.onerror = () => done('refused'); });
  await new Promise(done => setTimeout(done, 3000));
  return answer;
}"""

FOLLOW_A_LINK = """url => { const made = document.createElement('a'); made.href = url;
  document.body.append(made); made.click(); }"""

# What the UI itself does.
OWN_LAUNCH = """async body => (await (await fetch('/graphql',
  {method: 'POST', headers: {'Content-Type': 'application/json'}, body})).json()).data.launchRun.__typename"""
OWN_SOCKET = """() => new Promise(done => {
  const made = new WebSocket('ws://' + location.host + '/graphql', 'graphql-ws');
  made.onopen = () => made.send(JSON.stringify({type: 'connection_init'}));
  made.onmessage = message => done(JSON.parse(message.data).type); made.onerror = () => done('refused'); })"""


class _Pages(BaseHTTPRequestHandler):
    """Answers everything with an empty page, and remembers what it was asked."""

    requests: list[tuple[str, str]]

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_OPTIONS(self) -> None:
        self._answer()

    def _answer(self) -> None:
        telling = (self.headers.get(name) for name in ("Upgrade", "Content-Type", "Sec-Fetch-Dest"))
        self.requests.append((self.command, next(filter(None, telling), "")))
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"<!doctype html><title>Page</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def pages(address: str = "127.0.0.1") -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """A server of pages at an address of this machine: its port, and what it was asked."""
    requests: list[tuple[str, str]] = []
    server = ThreadingHTTPServer((address, 0), type("Pages", (_Pages,), {"requests": requests}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    folder = tmp_path_factory.mktemp("browser")
    with dagster_dev(open_home(folder / "home"), folder / "dagster.log") as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright_driver: Any) -> Iterator[Any]:
    chromium = launch(playwright_driver, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, EXCLUDE localhost")
    yield chromium
    chromium.close()


@pytest.fixture(scope="module")
def with_digests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    """The UI of a home in which a digest tells of a commit that tries everything."""
    folder = tmp_path_factory.mktemp("told")
    shop = DigestHome.at(open_home(folder / "home"), GitRepo.create(folder / "shop", FILES), hook="http://127.0.0.1:9/")
    shop.ask(auth={**SIGN_IN, "channels": []}, daily={**SIGN_IN, "schedule": {"every": "daily"}})
    for files in (FILES, {"shop/auth.py": HOSTILE}):
        shop.repo.commit(files)
        done = run_codesum("--home", shop.folder, "index", "shop", cwd=folder)
        assert done.returncode == 0, done.stderr
    with dagster_dev(shop.home, folder / "dagster.log") as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a new profile, with time to load on a busy machine."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def attack(target: str, partition: str = "attacked") -> list[str]:
    """What the attacking script is given."""
    from urllib.parse import urlencode

    variables = {"params": launch_params(partition)}
    return [
        target,
        json.dumps({"query": LAUNCH, "variables": variables}),
        urlencode({"query": LAUNCH, "variables": json.dumps(variables)}),
    ]


def test_the_attack_reaches_a_server_that_does_not_defend_itself(page: Any) -> None:
    with pages() as (victim, requests), pages() as (port, _):
        page.goto(f"http://127.0.0.1:{port}/")
        page.evaluate(ATTACK, attack(f"http://127.0.0.1:{victim}"))

    found = set(requests)
    assert found >= {("POST", "text/plain"), ("GET", "image"), ("GET", "iframe"), ("GET", "websocket")}
    assert ("POST", "application/x-www-form-urlencoded") in found


@pytest.mark.parametrize("origin", ["127.0.0.1", "127.0.0.2", "localhost"])
@pytest.mark.parametrize("target", ["127.0.0.1", "localhost"])
def test_a_page_of_somebody_else_starts_nothing(page: Any, ui: DagsterDev, origin: str, target: str) -> None:
    with pages("127.0.0.2" if origin == "127.0.0.2" else "127.0.0.1") as (port, _):
        page.goto(f"http://{origin}:{port}/")
        answer = page.evaluate(ATTACK, attack(ui.url.replace("127.0.0.1", target)))

    assert answer == "refused"
    assert ui.runs(dagster__partition="attacked") == []
    assert ui.log.read_text(errors="replace").count("refused: ") >= 6


def test_a_page_whose_name_leads_to_this_machine_gets_nothing(page: Any, ui: DagsterDev) -> None:
    answer = page.goto(ui.url.replace("127.0.0.1", REBOUND))

    assert (answer.status, "the request is for the host" in answer.text()) == (403, True)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_ui_itself_loads_asks_and_starts_runs(page: Any, ui: DagsterDev, name: str, tmp_path: Path) -> None:
    refused = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status == 403 else None)
    body = json.dumps({"query": LAUNCH, "variables": {"params": launch_params(f"own-{name}")}})

    page.goto(f"{ui.url.replace('127.0.0.1', name)}/assets")
    page.get_by_text("repo_snapshot").first.wait_for()

    assert page.evaluate(OWN_SOCKET) == "connection_ack"
    assert page.evaluate(OWN_LAUNCH, body) == "LaunchRunSuccess"
    assert len(ui.runs(dagster__partition=f"own-{name}")) == 1
    assert refused == []


def test_a_link_of_another_page_leads_to_the_ui(page: Any, ui: DagsterDev) -> None:
    with pages() as (port, _):
        page.goto(f"http://127.0.0.1:{port}/")
        page.evaluate(FOLLOW_A_LINK, ui.url)
        page.wait_for_url(f"{ui.url}/**")
        page.wait_for_function("document.title.includes('Dagster') || document.body.innerText.length > 0")

    assert "Refused" not in page.inner_text("body")


@pytest.mark.parametrize(
    ("asset", "shown"), [("intent_matches", "shop/auth.py#L1"), ("intent_digests", "<script>alert")]
)
def test_the_words_of_a_repository_are_letters_in_the_preview_of_a_digest(
    page: Any, with_digests: DagsterDev, asset: str, shown: str
) -> None:
    requests, dialogs = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    page.goto(f"{with_digests.url}/assets/{asset}?view=partitions&partition=shop")
    page.get_by_text("preview", exact=True).first.wait_for()
    page.get_by_text(shown).first.wait_for()

    assert dialogs == []
    assert not [url for url in requests if "evil.example" in url]
    assert page.locator("[href*='evil.example'], [src*='evil.example'], a[href^='javascript:']").count() == 0
