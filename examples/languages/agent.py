"""The agent in Python, with the standard library alone."""

import json
import os
import urllib.request

task = json.loads(os.environ.get("AGL_TASK") or open(os.environ["AGL_TASK_FILE"]).read())
body = {
    "model": os.environ["AGL_MODEL"],
    "messages": [{"role": "user", "content": f"{task['question']} Answer with a number."}],
}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
print(answer["choices"][0]["message"]["content"])
