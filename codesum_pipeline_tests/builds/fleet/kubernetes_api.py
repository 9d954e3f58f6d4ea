"""What a Kubernetes API server answers about jobs, over HTTP on loopback."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_JOB = re.compile(r"/apis/batch/v1/namespaces/(?P<namespace>[^/]+)/jobs(/(?P<name>[^/?]+))?(/status)?(\?.*)?")
_PODS = re.compile(r"/api/v1/namespaces/[^/]+/pods(\?.*)?")


@dataclass
class KubernetesApi:
    """The jobs that were made, by namespace and name; `status` is what is said of each.

    With `carry_out` the command of a job is run, here and without its container.
    """

    jobs: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=lambda: {"active": 1})
    url: str = ""
    carry_out: bool = False

    def kubeconfig(self, file: Path) -> Path:
        """A file that says how to reach it."""
        context = {"name": "loopback", "context": {"cluster": "loopback", "user": "nobody"}}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "loopback",
            "contexts": [context],
            "clusters": [{"name": "loopback", "cluster": {"server": self.url}}],
            "users": [{"name": "nobody", "user": {}}],
        }
        file.write_text(json.dumps(content))
        return file

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status code and the object."""
        if _PODS.fullmatch(path):
            return 200, {"kind": "PodList", "apiVersion": "v1", "items": []}
        matched = _JOB.fullmatch(path)
        assert matched, path
        if method == "POST":
            self.jobs[matched["namespace"], body["metadata"]["name"]] = body
            if self.carry_out:
                (container,) = body["spec"]["template"]["spec"]["containers"]
                variables = {each["name"]: each["value"] for each in container["env"] if "value" in each}
                subprocess.Popen(container["args"], env={**variables, **os.environ})
            return 201, body
        job = self.jobs.get((matched["namespace"], matched["name"]))
        if job is None:
            return 404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
        if method == "DELETE":
            del self.jobs[matched["namespace"], matched["name"]]
            return 200, {"kind": "Status", "status": "Success"}
        return 200, {**job, "status": self.status}


@contextmanager
def kubernetes_api() -> Iterator[KubernetesApi]:
    """Serve on a free port."""
    api = KubernetesApi()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            code, found = api.answer(self.command, self.path, json.loads(self.rfile.read(length) or b"{}"))
            content = json.dumps(found).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
