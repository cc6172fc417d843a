"""A server that takes what the client sends, and a way to run agents against it."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Tuple

PACKAGE = str(Path(__file__).resolve().parent.parent)


class Receiver:
    def __init__(self) -> None:
        self.requests: List[Tuple[str, str, Dict[str, Any]]] = []
        self.statuses: List[int] = []
        """Of the next answers; then 200."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                if status == 200:
                    receiver.requests.append((self.path, self.headers["authorization"], body))
                self.send_response(status)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.environment = {
            "AGL_ENDPOINT": "http://127.0.0.1:%d" % self._server.server_address[1],
            "AGL_KEY": "agl-key",
            "AGL_ATTEMPT_ID": "attempt",
            "AGL_ROLLOUT_ID": "rollout",
        }

    def spans(self) -> List[Dict[str, Any]]:
        return [
            span
            for _, _, body in self.requests
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def run_agent(program: str, environment: Dict[str, str], *flags: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program of its own that has the client as `agl`."""
    return subprocess.run(
        [sys.executable, *flags, "-c", "import agentlightning_client as agl\n" + program],
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": PACKAGE, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=60,
    )


def plain(attributes: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values()), None) for pair in attributes}
