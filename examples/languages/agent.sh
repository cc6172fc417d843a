#!/usr/bin/env bash
# The agent in Bash, with curl. It asks for the completion of a text, whose answer is easy to cut out of the JSON.
set -euo pipefail

question=$(sed -E 's/.*"question":"([^"]*)".*/\1/' "$AGL_TASK_FILE")
answer=$(
  curl --silent --show-error --fail "$OPENAI_BASE_URL/chat/completions" \
    -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' \
    -d '{"model": "'"$AGL_MODEL"'", "messages": [{"role": "user", "content": "'"$question"' Answer with a number."}]}'
)
sed -E 's/.*"content":"(([^"\\]|\\.)*)".*/\1/' <<<"$answer"
