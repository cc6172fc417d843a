import json
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, List, Tuple
from unittest import mock

import agentlightning_client as agl

PROMPT = {"name": "solver", "version": 3, "template": "Solve {{ question }}: {x} {{question}}", "placeholders": ["question"]}


class GettingPrompts(unittest.TestCase):
    def setUp(self) -> None:
        self.requests: List[Tuple[str, str]] = []
        self.statuses: List[int] = []
        test = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                test.requests.append((self.path, self.headers["authorization"]))
                status = test.statuses.pop(0) if test.statuses else 200
                body = json.dumps(PROMPT if status == 200 else {"title": "no"}).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        environment = {
            "AGL_ENDPOINT": "http://127.0.0.1:%d" % server.server_address[1],
            "AGL_KEY": "agl-key",
            "AGL_ATTEMPT_ID": "attempt",
            "AGL_ROLLOUT_ID": "rollout",
        }
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def refused(self, code: str, call: Any) -> None:
        with self.assertRaises(agl.PromptError) as caught:
            call()
        self.assertEqual(caught.exception.code, code)

    def test_it_is_the_version_of_the_attempt_with_its_places_filled_in(self) -> None:
        prompt = agl.get_prompt("solver", fallback="unused")
        self.assertEqual((prompt.version, prompt.placeholders), (3, ("question",)))
        self.assertEqual(self.requests, [("/agl/v1/prompts/solver", "Bearer agl-key")])
        self.assertEqual(prompt.render(question=r"\1 {{question}}"), r"Solve \1 {{question}}: {x} \1 {{question}}")
        self.refused("prompt_value_missing", lambda: prompt.render())
        self.refused("prompt_value_unknown", lambda: prompt.render(question="", more=""))

    def test_it_asks_again_when_the_server_is_busy(self) -> None:
        self.statuses.append(503)
        self.assertEqual(agl.get_prompt("a/b").version, 3)
        self.assertEqual([path for path, _ in self.requests], ["/agl/v1/prompts/a%2Fb"] * 2)

    def test_within_a_run_it_never_goes_on_with_the_fallback(self) -> None:
        for status, code in ((404, "prompt_not_found"), (401, "prompt_unavailable")):
            self.statuses.append(status)
            self.refused(code, lambda: agl.get_prompt("solver", fallback="x"))
        self.assertEqual(len(self.requests), 2)

    def test_outside_of_a_run_it_is_the_fallback(self) -> None:
        with mock.patch.dict(os.environ, {"AGL_ATTEMPT_ID": ""}):
            prompt = agl.get_prompt("solver", fallback="Solve {{q}} {{ q }}")
            self.assertEqual(prompt, agl.Prompt("solver", None, "Solve {{q}} {{ q }}", ("q",)))
            self.assertEqual(prompt.render(q=1), "Solve 1 1")
            self.refused("prompt_outside_of_run", lambda: agl.get_prompt("solver"))
        self.assertEqual(self.requests, [])
