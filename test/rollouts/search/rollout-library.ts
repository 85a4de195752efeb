import { appendFileSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Library } from "../../../src/rollouts/search/conversation-index.js";
import type { RolloutFile } from "../../../src/rollouts/search/scan.js";
import { listConversationsSync } from "../../../src/rollouts/list/list-sync.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

export const time = "2026-11-16T00:00:00.000Z";

/** A home directory with conversations and a search index. */
export class Home {
  readonly folder: string;
  readonly conversations: string;
  readonly index: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.conversations = join(folder, "conversations");
    this.index = join(folder, "index.sqlite");
    mkdirSync(this.conversations);
  }

  static async open(): Promise<Home> {
    return new Home(await temporaryFolder());
  }

  save(id: string, ...lines: readonly string[]): string {
    const path = join(this.conversations, `${id}.jsonl`);
    writeFileSync(path, [metaLine(id), ...lines].join(""));
    return path;
  }

  append(id: string, ...lines: readonly string[]): void {
    appendFileSync(join(this.conversations, `${id}.jsonl`), lines.join(""));
  }

  library(): Library<RolloutFile> {
    const conversations = listConversationsSync(this.conversations, { cache: join(this.folder, "heads.json") });
    return { directories: [this.conversations], conversations };
  }

  get mode(): number {
    return lstatSync(this.index).mode & 0o777;
  }
}

export function metaLine(id: string): string {
  const git = { branch: "main", commit_hash: "0123" };
  const payload = { id, timestamp: time, cwd: "/project", originator: "cody", cli_version: "0.1.0", git };
  const metadata = { provider: "openai", model: "gpt-4o", format: 1 };
  return `${JSON.stringify({ timestamp: time, type: "session_meta", metadata, payload })}\n`;
}

export function user(text: string): string {
  return item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}

export function assistant(text: string): string {
  return item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
}

export function call(name: string, args: string, callId = "call_1"): string {
  return item({ type: "function_call", name, arguments: args, call_id: callId });
}

export function output(text: string, callId = "call_1"): string {
  return item({ type: "function_call_output", call_id: callId, output: text });
}

export function tokens(input: number, out: number): string {
  const usage = { input_tokens: input, cached_input_tokens: 0, output_tokens: out, total_tokens: input + out };
  const payload = { type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } };
  return `${JSON.stringify({ timestamp: time, type: "event_msg", payload })}\n`;
}

export function context(model: string): string {
  return `${JSON.stringify({ timestamp: time, type: "turn_context", payload: { model, provider: "openai", cwd: "/" } })}\n`;
}

function item(payload: object): string {
  return `${JSON.stringify({ timestamp: time, type: "response_item", payload })}\n`;
}
