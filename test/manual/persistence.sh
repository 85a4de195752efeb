#!/usr/bin/env bash
# Manual test of saving, resuming and compacting conversations: eight scenarios against `cody mock-llm`, in a temporary
# home. Every step checks its expected output, and the first failure ends the script.
# Usage: test/manual/persistence.sh (after npm install && npm run build)
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
# One scenario runs as another user, who must be able to read the program.
chmod 755 "$folder"
cp -r "$root/dist" "$root/package.json" "$folder/"
node=$(command -v node)
export HOME="$folder/home" CODY_HOME="$folder/home/.cody" NO_COLOR=1
mkdir -p "$HOME/project"
cd "$HOME/project"
mock=
# Runs on every exit: the end, a failed step, Ctrl-C, SIGTERM, SIGHUP.
clean_up() {
  if [ -n "$mock" ]; then
    # SIGKILL, so that waiting for it always ends; the server has nothing to save.
    kill -KILL "$mock" 2>/dev/null || true
    wait "$mock" 2>/dev/null || true
  fi
  chmod -R u+w "$folder" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT

cody() { "$node" "$root/dist/cli/main.cjs" "$@"; }
scenario() { printf '\n== %s\n' "$1"; }
fail() { printf 'FAILED: %s\n' "$1" >&2; exit 1; }
expect() { # what, text, pattern
  grep -qE -- "$3" <<<"$2" || fail "$1: expected $3 in: $2"
  printf '   ok: %s\n' "$1"
}

# Not through the function above: $! would be the subshell it runs in, and killing that leaves the server.
"$node" "$root/dist/cli/main.cjs" mock-llm >"$folder/mock.log" 2>&1 &
mock=$!
for _ in $(seq 200); do
  url=$(grep -oE 'http://127.0.0.1:[0-9]+' "$folder/mock.log" | head -n 1 || true)
  [ -n "$url" ] && break
  kill -0 "$mock" || fail "the mock server ended: $(cat "$folder/mock.log")"
  read -rt 0.05 <> <(:) || true
done
export OPENAI_API_KEY=mock OPENAI_BASE_URL="$url/v1" ANTHROPIC_API_KEY=mock ANTHROPIC_BASE_URL="$url"
cody set-provider openai --api responses --model gpt-4o-mini >/dev/null
cody set-auth openai-api-key >/dev/null

scenario '1: conversations save themselves'
first=$(cody new)
expect 'new prints an id' "$first" '^conv_[A-Za-z0-9_-]+$'
cody chat 'Hello, my name is Alice' >/dev/null
file="$CODY_HOME/conversations/$first.jsonl"
[ -f "$file" ] || fail "no file $file"
expect 'the message is in the file' "$(cat "$file")" 'Alice'
before=$(wc -l <"$file")
expect 'the name is remembered' "$(cody chat "What's my name?")" 'Alice'
[ "$(wc -l <"$file")" -gt "$before" ] || fail 'the file did not grow'
"$node" -e 'require("fs").readFileSync(process.argv[1],"utf8").trim().split("\n").forEach((line) => JSON.parse(line))' "$file"

scenario '2: they are listed'
cody new >/dev/null && cody chat 'test conversation 2' >/dev/null
cody new >/dev/null && cody chat 'test conversation 3' >/dev/null
list=$(cody list)
expect 'the list has a heading' "$list" '^Saved Conversations:'
expect 'the list has the first' "$list" "$first"
expect 'provider and model' "$list" 'Provider: openai \(gpt-4o-mini\)'
expect 'the total' "$list" 'Total: 3 conversation\(s\)'

scenario '3: they are resumed'
expect 'resume confirms' "$(cody resume "$first" 2>&1)" "✓ Resumed conversation: $first"
expect 'the earlier message is known' "$(cody chat 'What did I tell you my name was?')" 'Alice'
expect 'the conversation continues' "$(cody chat "What's 2+2?")" '4'
cody resume "$first" >/dev/null
expect 'the last message is known' "$(cody chat 'What did I just say?')" '2\+2'

scenario '4: a missing one'
set +e
missing=$(cody resume conv_nonexistent 2>&1)
code=$?
set -e
expect 'not found' "$missing" "✗ Conversation 'conv_nonexistent' not found"
expect 'the error has a hint' "$missing" 'List available: cody list'
[ "$code" -eq 1 ] || fail "exit code $code"

scenario '5: a long one is compacted'
long=$(cody new)
cody config set contextWindow 3500 >/dev/null
for i in $(seq 20); do
  out=$(cody chat "This is message number $i. Please respond with a detailed explanation of what number this is and count from 1 to $i." 2>&1)
  if grep -q 'Compacting conversation history\.\.\.' <<<"$out"; then seen=$out; fi
done
expect 'the compaction is shown' "${seen:-}" 'Context compacted: [0-9.]+[kM]? → [0-9.]+[kM]? tokens'
record=$(grep -i '"type":"compacted"' "$CODY_HOME/conversations/$long.jsonl" || true)
expect 'the record is in the file' "$record" 'Summary of earlier conversation'
expect 'the newest message is known' "$(cody chat 'What did I just say?')" 'message number 20'

scenario '6: a compacted one is resumed'
expect 'resumed' "$(cody resume "$long" 2>&1)" "✓ Resumed conversation: $long"
expect 'the conversation continues' "$(cody chat 'Summarize our conversation so far')" '.'
expect 'the context has a summary' "$(cody context)" '[Ss]ummary'
cody config unset contextWindow >/dev/null

scenario '7: lines are as Codex writes them'
"$node" -e '
const lines = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line));
for (const { timestamp, type, payload } of lines) {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(timestamp)) throw new Error(`timestamp ${timestamp}`);
  if (typeof type !== "string" || typeof payload !== "object") throw new Error(`${type}`);
}
const [{ type, payload, metadata }] = lines;
if (type !== "session_meta" || !payload.id || metadata.provider !== "openai") throw new Error("the first line");
console.log("   ok: every line has timestamp, type and payload");
' "$file"

scenario '8: a directory that cannot be written to'
# Root can write everywhere, so another user tries.
as_user() {
  "$node" -e '
const { spawnSync } = require("child_process");
const other = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
process.exit(spawnSync(process.argv[1], process.argv.slice(2), { stdio: "inherit", ...other }).status);' "$node" "$folder/dist/cli/main.cjs" "$@"
}
mkdir -p "$folder/denied/conversations" "$folder/denied/project"
chmod -R 755 "$folder/denied"
chmod 555 "$folder/denied/conversations" "$folder/denied"
chmod 755 "$HOME" "$HOME/project"
export CODY_HOME="$folder/denied" XDG_RUNTIME_DIR=
cd "$folder/denied/project"
denied=$(as_user chat 'test' 2>&1) || fail "exit code $?: $denied"
expect 'a warning' "$denied" 'Failed to save turn: permission denied'
expect 'the answer is shown' "$denied" 'test'
chmod 755 "$folder/denied" "$folder/denied/conversations"

printf '\nAll eight scenarios passed.\n'
