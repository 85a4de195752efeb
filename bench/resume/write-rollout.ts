import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { MessageItem, ResponseItem } from "../../src/messages/response-item.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine, sessionMetaLine } from "../../src/rollouts/file/encode.js";
import { variedText } from "../support/varied-text.js";
import { conversationId, type Kind } from "./rollout-kind.js";

const now = new Date("2026-11-16T00:00:00.000Z");
const timestamp = now.toISOString();
/** About 250,000 tokens, the context window of a large model. */
const windowBytes = 1024 * 1024;
const keptBytes = 80 * 1024;
const stepsInTurn = 10;
const outputs = [300, 900, 2_000, 400, 6_000, 1_200, 12_000, 250, 3_000, 40_000];
const textBytes = 512 * 1024;
const everyThirtieth = 30;

/** Writes a rollout of about `bytes` bytes: turns with reasoning, tool calls, their outputs, and token counts. */
export async function writeRollout(path: string, bytes: number, kind: Kind): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 });
  const labels = { provider: "offline", model: "offline", cwd: "/", source: "non_interactive" as const };
  file.write(encodeLine(sessionMetaLine({ conversationId, now, ...labels })));
  let written = 0;
  let sinceCompaction = 0;
  let messages: MessageItem[] = [];
  for (let number = 0; written < bytes; number += 1) {
    const turn = Array.from(linesOfTurn(number, messages), encodeLine).join("");
    written += turn.length;
    sinceCompaction += turn.length;
    if (!file.write(turn)) await once(file, "drain");
    if (kind === "whole" || sinceCompaction < windowBytes) continue;
    messages = newestOf(messages);
    const line = encodeLine(compaction(number, messages));
    written += line.length;
    sinceCompaction = 0;
    file.write(line);
  }
  file.end();
  await finished(file);
}

function* linesOfTurn(number: number, messages: MessageItem[]): Generator<OwnLine> {
  const turnId = `turn-${number}`;
  const question = message("user", piece(number, 200 + (number % 7) * 250));
  messages.push(question);
  yield event({ type: "task_started", turn_id: turnId });
  yield { timestamp, type: "turn_context", payload: context(turnId) };
  yield item(question);
  yield event({ type: "user_message", message: textOf(question) });
  for (let step = 0; step < stepsInTurn; step += 1) {
    const callId = `call_${number}_${step}`;
    const seed = number * stepsInTurn + step;
    const encrypted = Buffer.from(piece(seed + 1, 1_100)).toString("base64");
    yield item({
      type: "reasoning",
      summary: [{ type: "summary_text", text: piece(seed + 2, 120) }],
      encrypted_content: encrypted,
    });
    const command = { command: ["bash", "-lc", piece(seed + 3, 60 + (seed % 5) * 80)], workdir: "/projects/site" };
    yield item({ type: "function_call", name: "shell", arguments: JSON.stringify(command), call_id: callId });
    const output = outputText(seed, outputs[(seed * 7) % outputs.length] ?? 0);
    yield item({ type: "function_call_output", call_id: callId, output });
    yield tokenCount(seed);
  }
  const answer = message("assistant", piece(number + 5, 900));
  yield item(answer);
  yield event({ type: "agent_message", message: textOf(answer) });
  yield event({ type: "task_complete", turn_id: turnId, last_agent_message: textOf(answer) });
}

function compaction(number: number, messages: readonly MessageItem[]): OwnLine {
  const summary = piece(number, 6_000);
  return {
    timestamp,
    type: "compacted",
    payload: { message: summary, replacement_history: [...messages, message("user", summary)] },
  };
}

function newestOf(messages: readonly MessageItem[]): MessageItem[] {
  let left = keptBytes;
  return messages
    .toReversed()
    .filter((one) => (left -= textOf(one).length) > 0)
    .toReversed();
}

/** Text like the output of programs: lines, quotes, escapes, and sometimes a character beyond Latin-1. */
function outputText(seed: number, chars: number): string {
  const text = piece(seed, chars);
  const shown = seed % everyThirtieth === 0 ? `✓ ${text} → done` : text;
  return JSON.stringify({ output: shown, metadata: { exit_code: 0, duration_seconds: 0.4 } });
}

const source = variedText(1, textBytes);

function piece(seed: number, chars: number): string {
  const from = (seed * 7_919) % (textBytes - chars);
  return source.slice(from, from + chars);
}

function context(turnId: string): Extract<OwnLine, { type: "turn_context" }>["payload"] {
  return {
    turn_id: turnId,
    cwd: "/",
    approval_policy: "on-request",
    sandbox_policy: { type: "workspace-write" },
    model: "offline",
    summary: "auto",
    provider: "offline",
  };
}

function tokenCount(seed: number): OwnLine {
  const last = {
    input_tokens: 10_000 + seed,
    cached_input_tokens: 9_000,
    output_tokens: 300,
    reasoning_output_tokens: 100,
    total_tokens: 10_300 + seed,
  };
  const limits = { primary: { used_percent: 12.5, window_minutes: 300, resets_at: 1_763_000_000 }, credits: null };
  return event({
    type: "token_count",
    info: { total_token_usage: last, last_token_usage: last, model_context_window: 258_400 },
    rate_limits: limits,
  });
}

function message(role: "user" | "assistant", text: string): MessageItem {
  return { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] };
}

function textOf({ content }: MessageItem): string {
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}

function item(payload: ResponseItem): OwnLine {
  return { timestamp, type: "response_item", payload };
}

function event(payload: Extract<OwnLine, { type: "event_msg" }>["payload"]): OwnLine {
  return { timestamp, type: "event_msg", payload };
}
