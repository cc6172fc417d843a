import asyncio
import os
import unittest
from typing import Any, List, Tuple
from unittest import mock

import agentlightning_client as agl

from .receiver import Receiver, plain, run_agent


class WithReceiver(unittest.TestCase):
    def setUp(self) -> None:
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        patch = mock.patch.dict(os.environ, self.receiver.environment)
        patch.start()
        self.addCleanup(patch.stop)

    def scores(self, span: Any) -> List[Tuple[Any, Any]]:
        self.assertEqual({event["name"] for event in span["events"]}, {"gen_ai.evaluation.result"})
        found = [plain(event["attributes"]) for event in span["events"]]
        return [(event["gen_ai.evaluation.name"], event["gen_ai.evaluation.score.value"]) for event in found]


class Emitting(WithReceiver):
    def test_a_reward_has_arrived_when_the_call_returns(self) -> None:
        agl.emit_reward(0.5)
        [(path, authorization, body)] = self.receiver.requests
        self.assertEqual((path, authorization), ("/v1/traces", "Bearer agl-key"))
        self.assertEqual(plain(body["resourceSpans"][0]["resource"]["attributes"])["agl.attempt_id"], "attempt")
        [span] = self.receiver.spans()
        self.assertEqual(span["name"], "agentlightning.reward")
        self.assertRegex(span["traceId"], "^[0-9a-f]{32}$")
        self.assertRegex(span["spanId"], "^[0-9a-f]{16}$")
        self.assertEqual(self.scores(span), [("reward", 0.5)])

    def test_the_primary_dimension_is_last_where_it_counts(self) -> None:
        agl.emit_reward({"correct": 1, "style": 0.25}, primary="correct", agent_name="writer", response_id="chatcmpl-7")
        [span] = self.receiver.spans()
        self.assertEqual(self.scores(span), [("style", 0.25), ("correct", 1.0)])
        self.assertEqual(plain(span["events"][0]["attributes"])["agentlightning.reward.agent_name"], "writer")
        self.assertEqual(plain(span["events"][0]["attributes"])["gen_ai.response.id"], "chatcmpl-7")

    def test_what_is_emitted_together_goes_together(self) -> None:
        agl.emit_message("thinking", attributes={"step": 2})
        agl.emit_object({"a": [1, None], "b": {1, 2}})
        agl.emit_annotation({"tags": ["x"], "odd": float("nan"), "none": None, "large": 2**70, "flag": True})
        agl.emit_exception(TypeError("bad"))
        agl.flush()
        self.assertEqual(len(self.receiver.requests), 1)
        message, value, annotation, exception = self.receiver.spans()
        self.assertEqual(plain(message["attributes"]), {"step": "2", "agentlightning.message.body": "thinking"})
        self.assertIn('"a": [1, null]', plain(value["attributes"])["agentlightning.object.json"])
        self.assertEqual(plain(annotation["attributes"])["odd"], "nan")
        self.assertEqual(plain(annotation["attributes"])["flag"], True)
        self.assertEqual(exception["status"], {"code": 2, "message": "bad"})
        self.assertEqual(plain(exception["events"][0]["attributes"])["exception.type"], "TypeError")

    def test_it_tries_again_when_the_server_is_busy(self) -> None:
        self.receiver.statuses += [503, 429]
        agl.emit_reward(1)
        self.assertEqual(len(self.receiver.spans()), 1)


class Operation(WithReceiver):
    def test_it_is_a_span_around_what_its_function_emits(self) -> None:
        @agl.operation("inner")
        async def inner(n: int) -> int:
            await asyncio.sleep(0)
            agl.emit_message("within")
            return n + 1

        @agl.operation("outer")
        def outer(n: int) -> int:
            return asyncio.run(inner(n))

        failure = ValueError("no")

        @agl.operation("failing")
        def failing() -> None:
            raise failure

        self.assertEqual(outer(1), 2)
        with self.assertRaises(ValueError) as raised:
            failing()
        self.assertIs(raised.exception, failure)
        with self.assertRaises(KeyError), agl.operation("block"):
            raise KeyError("k")
        agl.flush()
        by_name = {span["name"]: span for span in self.receiver.spans()}
        message = by_name["agentlightning.message"]
        self.assertEqual(message["parentSpanId"], by_name["inner"]["spanId"])
        self.assertEqual(by_name["inner"]["parentSpanId"], by_name["outer"]["spanId"])
        self.assertEqual(message["traceId"], by_name["outer"]["traceId"])
        self.assertEqual(plain(by_name["inner"]["attributes"])["agentlightning.operation.input"], "[1]")
        self.assertEqual(plain(by_name["inner"]["attributes"])["agentlightning.operation.output"], "2")
        self.assertNotIn("parentSpanId", by_name["outer"])
        self.assertEqual([by_name[name]["status"]["code"] for name in ("failing", "block")], [2, 2])

    def test_without_a_name_it_has_the_name_of_its_function(self) -> None:
        @agl.operation
        def search(query: str) -> str:
            return query.upper()

        self.assertEqual(search("a"), "A")
        self.assertEqual(search.__name__, "search")
        agl.flush()
        self.assertEqual([span["name"] for span in self.receiver.spans()], ["search"])


class OpenTelemetry(WithReceiver):
    def test_without_a_provider_it_says_so(self) -> None:
        self.assertFalse(agl.attach_opentelemetry())

    def test_spans_of_a_provider_come_along_once(self) -> None:
        try:
            from opentelemetry.sdk.trace import TracerProvider
        except ImportError:
            self.skipTest("opentelemetry-sdk is not installed")
        provider = TracerProvider()
        self.assertTrue(agl.attach_opentelemetry(provider))
        self.assertTrue(agl.attach_opentelemetry(provider))
        with provider.get_tracer("framework").start_as_current_span("agent", attributes={"n": 1}) as span:
            span.add_event("thought")
            agl.emit_reward(1)
        provider.force_flush()
        reward, agent = self.receiver.spans()
        self.assertEqual((agent["name"], agent["kind"], agent["events"][0]["name"]), ("agent", 1, "thought"))
        self.assertEqual((reward["traceId"], reward["parentSpanId"]), (agent["traceId"], agent["spanId"]))


class Process(WithReceiver):
    def test_nothing_is_lost_however_it_ends(self) -> None:
        for end in ("", "raise SystemExit(3)", "raise ValueError('died')"):
            with self.subTest(end=end):
                self.receiver.requests.clear()
                run_agent("agl.emit_reward(0.75); agl.emit_message('last')\n" + end, self.receiver.environment)
                names = [span["name"] for span in self.receiver.spans()]
                self.assertEqual(names, ["agentlightning.reward", "agentlightning.message"])

    def test_a_forked_child_reports_for_itself(self) -> None:
        if not hasattr(os, "fork"):
            self.skipTest("this system has no fork")
        program = """
import os
agl.emit_message('parent')
child = os.fork()
if child == 0:
    agl.emit_message('child')
    agl.flush()
    os._exit(0)
os.waitpid(child, 0)
"""
        ended = run_agent(program, self.receiver.environment)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        bodies = [plain(span["attributes"])["agentlightning.message.body"] for span in self.receiver.spans()]
        self.assertEqual(sorted(bodies), ["child", "parent"])

    def test_outside_of_a_run_it_does_nothing_with_one_warning(self) -> None:
        ended = run_agent("for i in range(3): agl.emit_reward(i)\nagl.emit_message('m')\nprint('done')", {})
        self.assertEqual((ended.returncode, ended.stdout), (0, "done\n"))
        self.assertEqual(ended.stderr.count("Outside of a run"), 1)

    def test_it_never_raises_into_the_agent(self) -> None:
        self.receiver.close()
        program = """
agl.emit_reward(float('nan'))
agl.emit_reward({'style': 'good'})
agl.emit_reward(None)
agl.emit_reward(True)
agl.emit_reward('0.5')
agl.emit_reward({})
circle = {}
circle['self'] = circle
agl.emit_object(circle)
agl.emit_annotation(circle)
agl.emit_annotation(None)
agl.emit_exception(None)
agl.attach_opentelemetry()
agl.emit_reward(1)
print('done')
"""
        ended = run_agent(program, self.receiver.environment)
        self.assertEqual((ended.returncode, ended.stdout), (0, "done\n"))
        self.assertIn('Reward "reward" is nan, not a finite number', ended.stderr)
        self.assertIn("Reward \"reward\" is '0.5', not a finite number", ended.stderr)
        self.assertIn("emit_reward was given no dimension", ended.stderr)
        self.assertIn("cannot be reached", ended.stderr)

    def test_it_needs_no_installed_package(self) -> None:
        without_site_packages = "-S"
        ended = run_agent("agl.emit_reward(1)", self.receiver.environment, without_site_packages)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(len(self.receiver.spans()), 1)


if __name__ == "__main__":
    unittest.main()
