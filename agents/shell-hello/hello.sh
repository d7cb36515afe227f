#!/bin/sh
# The first line on standard input is the start message; every line printed becomes a message_delta event.
read -r start
field() { printf '%s\n' "$start" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }

echo "Hello from a shell script! This is run $(field run_number) of the session."
echo "You said: $(field input.prompt)"

mkdir -p outputs
field input.prompt >> outputs/prompts.txt
echo "I wrote it down: outputs/prompts.txt has $(wc -l < outputs/prompts.txt) lines now."
