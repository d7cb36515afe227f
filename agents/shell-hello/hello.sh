#!/bin/sh
# The first line on standard input says what to do; every line printed is said to whoever follows the run.
read -r start
field() { printf '%s\n' "$start" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }

echo "Hello from a shell script! This is run $(field run_number) of the session."
echo "You said: $(field input.prompt)"

mkdir -p outputs
field input.prompt >> outputs/prompts.txt
echo "I wrote it down: outputs/prompts.txt has $(wc -l < outputs/prompts.txt) lines now."
