import * as z from "zod";
import { BatchResult } from "../../messages/batch.js";
import { CompactionOutcome, CompactionPreview, ContextUsage } from "../../messages/compaction.js";
import { Event } from "../../messages/event.js";
import { ControlWelcome, RunningConversation } from "../../messages/control.js";
import { ReviewDecision } from "../../messages/tools/approval.js";
import { FileChanges } from "../../messages/tools/file-change.js";
import { KnowledgeEntry } from "../../messages/tools/knowledge.js";
import { SandboxMode } from "../../messages/tools/policy.js";
import { RuleDecision } from "../../messages/tools/permissions.js";
import { TurnDiff } from "../../messages/tools/diff.js";
import type { RunnableName } from "./load-command.js";

/** One form of a command's output with --json. */
interface OutputForm {
  /** Which actions, arguments or results have this form; empty if the command has only one. */
  readonly when: string;
  readonly schema: z.ZodType;
}

export interface JsonOutput {
  /** `value`: one JSON value; `lines`: a JSON value on each line, while the command runs. */
  readonly prints: "value" | "lines";
  readonly forms: readonly OutputForm[];
  readonly note?: string;
}

const text = z.string();
const texts = z.array(text);
const flag = z.boolean();
const count = z.int().nonnegative();
const nullable = text.nullable();
/** In milliseconds since 1970. */
const time = z.number();
const id = text.describe("the conversation's id");
const path = text.describe("the conversation's file");

const conversation = {
  id,
  path,
  updatedAt: time.describe("milliseconds since 1970"),
  size: count.describe("in bytes"),
  createdAt: time.optional(),
  provider: text.optional(),
  model: text.optional(),
  cwd: text.optional(),
  gitBranch: text.optional(),
  gitCommit: text.optional(),
  title: text.optional().describe("the first line of the first message"),
  name: text.optional(),
  pinned: z.literal(true).optional(),
  empty: flag.describe("it has no message yet"),
  damaged: flag.describe("its file is not readable as a conversation"),
};

const opened = z.strictObject({
  id,
  name: text.optional(),
  provider: text,
  model: text,
  forkedFrom: text.optional().describe("the id of the original, of a copy"),
});

const deletion = z.strictObject({
  success: flag,
  sessionId: id,
  size: count,
  sizeFreed: count.describe("bytes freed on disk; the trash and hard links still hold the others"),
  hardLinked: texts.optional().describe("files that have another hard link"),
  error: text.optional(),
});
const deletions = {
  deletedCount: count,
  totalSize: count,
  totalSizeFreed: count,
  successes: z.array(deletion),
  failures: z.array(deletion),
};

const usage = { turns: count, input: count, cached: count, output: count, total: count, cost: z.number().optional() };

const found = z.strictObject({ known: count, named: count, shaped: count });
const scrubbedFile = z.strictObject({
  file: text,
  lines: count,
  found,
  hitLines: count,
  hits: z.array(z.looseObject({})),
  isNumbered: flag,
  kept: z.array(z.unknown()),
});

const settings = z.record(text, z.unknown());
const indexed = z.strictObject({
  path: text,
  conversations: count,
  messages: count,
  stale: count,
  bytes: count.optional(),
});

const exported = z.strictObject({
  id,
  format: text,
  path: text,
  bytes: count,
  left: z.record(text, z.unknown()).describe("what the format cannot hold, counted"),
});

const event: JsonOutput = {
  prints: "lines",
  forms: [{ when: "", schema: Event }],
  note: "Every event of the conversation: [protocol.md](protocol.md).",
};

const followed: JsonOutput = {
  prints: "lines",
  forms: [{ when: "", schema: Event.extend({ event_id: text }) }],
  note: "Every event of the conversation with an `event_id` for `--since`: [protocol.md](protocol.md).",
};

const problems = texts.describe("processes that could not be asked, and why");

const approval = z.strictObject({
  approvalId: text,
  conversationId: id,
  callId: text,
  turnId: text,
  tool: text,
  command: texts,
  cwd: text,
  reason: text.optional(),
  changes: FileChanges.optional(),
  requestedAt: text.optional(),
  state: z.enum(["awake", "asleep", "saved"]),
  answer: ReviewDecision.optional().describe("recorded, and applied when the conversation is resumed"),
  pid: count.optional().describe("the process that has the conversation open"),
});

function value(...forms: readonly (z.ZodType | readonly [when: string, schema: z.ZodType])[]): JsonOutput {
  return {
    prints: "value",
    forms: forms.map((form) => (isCase(form) ? { when: form[0], schema: form[1] } : { when: "", schema: form })),
  };
}

function isCase(form: z.ZodType | readonly [when: string, schema: z.ZodType]): form is readonly [string, z.ZodType] {
  return Array.isArray(form);
}

const pinned = value(z.strictObject({ id, pinned: flag }));

const mcpServer = z.strictObject({
  name: text,
  source: text.describe("the file that configures it"),
  status: text,
  command: text.optional(),
  args: texts.optional(),
  cwd: text.optional(),
  env: texts.optional().describe("names of variables, without their values"),
  url: text.optional(),
  bearer_token_env_var: text.optional(),
  http_headers: texts.optional().describe("names of headers, without their values"),
  env_http_headers: texts.optional(),
  startup_timeout_sec: z.number().optional(),
  tool_timeout_sec: z.number().optional(),
  enabled: flag.optional(),
  enabled_tools: texts.optional(),
  disabled_tools: texts.optional(),
  loggedIn: flag.optional(),
});

/** The output of each command with --json. docs/cli-json.md is generated from it, and tests compare it with real output. */
export const jsonOutputs: { readonly [N in RunnableName]: JsonOutput } = {
  new: value(z.strictObject({ id, saved: flag })),
  chat: event,
  exec: {
    prints: "lines",
    forms: [
      {
        when: "",
        schema: z.discriminatedUnion("type", [
          z.strictObject({ type: z.literal("thread.started"), thread_id: text }),
          z.strictObject({ type: z.literal("turn.started") }),
          z.strictObject({
            type: z.enum(["item.started", "item.updated", "item.completed"]),
            item: z.looseObject({ id: text, type: text }),
          }),
          z.strictObject({
            type: z.literal("turn.completed"),
            usage: z.strictObject({
              input_tokens: count,
              cached_input_tokens: count,
              cache_write_input_tokens: count,
              output_tokens: count,
              reasoning_output_tokens: count,
            }),
          }),
          z.strictObject({ type: z.literal("turn.failed"), error: z.strictObject({ message: text }) }),
          z.strictObject({ type: z.literal("error"), message: text }),
        ]),
      },
    ],
    note: "The events of `codex exec --json`: [exec.md](exec.md#events).",
  },
  run: { prints: "lines", forms: [{ when: "", schema: BatchResult.strict() }], note: "With or without `--json`." },
  ps: value(
    z.strictObject({
      conversations: z.array(
        RunningConversation.extend({
          ...ControlWelcome.pick({ pid: true, kind: true, home: true, version: true }).shape,
        }).strict(),
      ),
      problems,
    }),
  ),
  attach: followed,
  tail: followed,
  send: value(z.strictObject({ conversation_id: id, submission_id: text, status: z.enum(["accepted", "duplicate"]) })),
  stop: value(z.strictObject({ conversation_id: id, interrupted: flag, withdrawn: count })),
  daemon: value(
    [
      "start, status, stop",
      z.strictObject({
        running: flag,
        pid: count.optional(),
        version: text.optional(),
        started_at: time.optional().describe("milliseconds since 1970"),
        conversations: count.optional(),
      }),
    ],
    ["logs", z.array(z.strictObject({ time: text, level: text, message: text }))],
    ["unit", z.strictObject({ unit: text })],
  ),
  approvals: value(
    ["list", z.strictObject({ approvals: z.array(approval), problems })],
    ["show", approval],
    ["answer", z.strictObject({ approval_id: text, conversation_id: id, status: z.enum(["applied", "recorded"]) })],
  ),
  list: value(
    z.array(
      z.strictObject({
        ...conversation,
        total: count.optional().describe("on the last row with --limit, if there are more: how many there are"),
        nextCursor: text.optional().describe("on the same row: the value of --cursor for the next page"),
      }),
    ),
  ),
  search: value(
    z.array(
      z.strictObject({
        ...conversation,
        excerpts: z.array(
          z.strictObject({
            role: text,
            kind: text,
            tool: text.optional(),
            text,
            marks: z.array(z.tuple([count, count])).describe("where the words are in the text"),
          }),
        ),
      }),
    ),
  ),
  index: value(indexed),
  stats: value(
    z.strictObject({
      total: z.strictObject({ conversations: count, empty: count, answers: count, toolCalls: count, ...usage }),
      models: z.array(z.strictObject({ provider: text, model: text, ...usage })),
      projects: z.array(z.strictObject({ cwd: text, conversations: count, ...usage })),
    }),
  ),
  resume: value(opened),
  fork: value(opened),
  rename: value(z.strictObject({ id, name: text })),
  relink: value(
    ["with two folders", z.strictObject({ from: text, to: text, conversations: count })],
    ["without arguments: the missing folders", z.array(z.looseObject({}))],
  ),
  pin: pinned,
  unpin: pinned,
  clean: value(
    [
      "--dry-run",
      z.strictObject({
        dryRun: z.literal(true),
        wouldDelete: z.array(z.strictObject({ sessionId: id, size: count })),
        kept: texts.describe("pinned conversations"),
        inUse: texts,
      }),
    ],
    ["otherwise", z.strictObject({ dryRun: z.literal(false), ...deletions, kept: texts.optional() })],
    ["--trash without --yes", z.strictObject({ dryRun: z.literal(true), wouldRemove: z.array(z.looseObject({})) })],
  ),
  delete: value(z.strictObject(deletions)),
  undelete: value(
    ["with an id", z.strictObject({ id, path })],
    [
      "without an id: the trash",
      z.array(
        z.strictObject({
          id,
          name: text.optional(),
          title: text.optional(),
          path,
          trashedAt: text,
          until: text,
          why: text,
          bytes: count,
        }),
      ),
    ],
  ),
  compact: value(["--dry-run", CompactionPreview], ["otherwise", CompactionOutcome]),
  context: value(ContextUsage),
  diff: value(z.strictObject({ id, ...TurnDiff.shape })),
  undo: value(
    z.strictObject({
      id,
      status: z.enum(["preview", "conflict", "done"]),
      turn_id: nullable,
      root: text,
      files: z.array(
        z.strictObject({ path: text, action: z.enum(["create", "restore", "delete"]), obstacle: nullable }),
      ),
      failed: z.array(z.looseObject({ path: text })),
    }),
  ),
  "set-provider": value(
    z.strictObject({ provider: text, api: text.optional(), model: text.optional(), baseUrl: text.optional() }),
  ),
  providers: value(
    z.array(
      z.strictObject({
        provider: text,
        apis: texts,
        model: nullable.describe("the model used if only the provider is named"),
        key: z.enum(["set", "missing", "not needed"]),
        variable: text.describe("the environment variable that may hold the key"),
      }),
    ),
  ),
  "set-auth": value(z.strictObject({ auth: text })),
  auth: value(
    z.strictObject({
      method: nullable.describe("the method in use"),
      methods: z.array(
        z.strictObject({
          method: text,
          provider: text,
          available: flag,
          source: nullable,
          account: nullable,
          plan: nullable,
          expiresAt: nullable,
          renewable: flag,
          problem: nullable,
        }),
      ),
    }),
  ),
  login: value(z.strictObject({ method: text, account: nullable, plan: nullable })),
  logout: value(z.strictObject({ hadTokens: flag })),
  models: value(
    z.array(
      z.strictObject({
        id: text,
        provider: text,
        contextWindow: count.optional(),
        maxOutput: count.optional(),
        price: z
          .strictObject({ input: z.number(), output: z.number(), cachedInput: z.number().optional() })
          .optional()
          .describe("US dollars per million tokens"),
        abilities: texts,
        aliases: texts,
      }),
    ),
  ),
  config: value(
    [
      "without an action",
      z.strictObject({ values: settings, sources: z.record(text, text).describe("where each value comes from") }),
    ],
    [
      "--explain",
      z.array(
        z.strictObject({
          key: text,
          value: z.unknown(),
          said: z.array(z.strictObject({ source: text, value: z.unknown() })),
        }),
      ),
    ],
    ["`set` and `unset`: the setting and its value", settings],
    ["`get` and `path`: the value, or null", z.union([z.string(), z.number(), z.boolean(), z.null(), texts, settings])],
  ),
  knowledge: value(
    ["`list`", z.array(z.strictObject({ ...KnowledgeEntry.shape, score: z.number(), superseded: flag }))],
    ["`add`", KnowledgeEntry.strict()],
    ["`export` to stdout", z.array(KnowledgeEntry)],
    ["`export` to a file", z.strictObject({ path: text, entries: count })],
    ["`remove`", z.strictObject({ removed: texts })],
    ["`undo`", z.strictObject({ undone: z.array(KnowledgeEntry), restored: texts })],
    ["`prune`", z.strictObject({ dryRun: flag, removed: texts, lines: count.optional() })],
    [
      "`import`",
      z.strictObject({
        imported: texts.describe("ids of new entries"),
        known: count.describe("entries that were there before"),
        passedOver: count.describe("lines that are no entries"),
      }),
    ],
  ),
  mcp: value(
    ["`list`", z.array(mcpServer)],
    ["`add`", z.strictObject({ name: text, added: z.literal(true), replaced: flag })],
    ["`remove`", z.strictObject({ name: text, removed: z.literal(true) })],
    [
      "`test`",
      z.array(
        z.strictObject({
          name: text,
          status: text,
          error: text.optional(),
          tools: z.array(z.strictObject({ name: text, description: text.optional() })).optional(),
          leftOut: z.array(z.unknown()).optional(),
          resources: texts.optional(),
          prompts: texts.optional(),
        }),
      ),
    ],
    ["`login` and `logout`", z.strictObject({ name: text, loggedIn: flag, wasLoggedIn: flag.optional() })],
  ),
  hooks: value(
    z.array(
      z.strictObject({
        event: text,
        matcher: text.optional(),
        command: text,
        timeout: z.number().optional(),
        source: text,
        status: z.enum(["on", "not trusted", "changed"]),
      }),
    ),
  ),
  permissions: value(
    [
      "`list`",
      z.strictObject({
        project: text,
        rules: z.array(z.strictObject({ decision: RuleDecision, text, source: text, because: text.optional() })),
      }),
    ],
    [
      "`test`",
      z.strictObject({
        decision: z.enum(["run", "ask", "refuse"]),
        isOutside: flag.optional(),
        reason: text.optional(),
      }),
    ],
    [
      "`allow`, `ask` and `deny`",
      z.strictObject({ added: flag, decision: RuleDecision, rule: z.unknown(), project: nullable }),
    ],
    ["`remove`", z.strictObject({ removed: z.array(RuleDecision), rule: text, project: nullable })],
    [
      "`import`",
      z.strictObject({ files: texts, rules: z.array(z.looseObject({ ok: flag, file: text, isNew: flag })) }),
    ],
  ),
  trust: value(
    ["without --list", z.strictObject({ root: text, trust: z.literal("trusted").nullable() })],
    ["--list: folders and decisions", z.record(text, z.enum(["trusted", "untrusted"]))],
  ),
  show: value(z.looseObject({ format: z.literal("cody"), version: z.number() })),
  export: value(
    ["one conversation", exported],
    [
      "--all",
      z.strictObject({
        exported: z.array(exported),
        failed: z.array(z.strictObject({ id, reason: text })),
        unreadable: texts,
      }),
    ],
    ["--output -: the export itself, in its format", z.looseObject({ format: text })],
  ),
  import: value(z.strictObject({ files: z.array(z.looseObject({ status: text, path: text })) })),
  check: value(
    z.strictObject({
      id,
      model: text,
      items: count,
      wires: z.array(z.looseObject({ api: text, sent: count })),
    }),
  ),
  repair: value(
    z.strictObject({
      id,
      path,
      lines: count,
      damagedLines: count,
      rescuedLines: count,
      damaged: z.array(z.strictObject({ line: count, bytes: count, reason: text, rescued: count })),
      newlineMissing: flag,
      firstLineMade: flag,
      history: z.looseObject({ turns: count, items: count }),
      unknownLines: count,
      beginning: nullable,
      repaired: flag,
      backup: nullable.describe("the copy of the file from before"),
    }),
  ),
  output: value(
    ["without a call", z.array(z.looseObject({ type: z.literal("blob"), call_id: text, sha256: text, bytes: count }))],
    ["one call", z.looseObject({ call_id: text, bytes: count, path: text, text })],
  ),
  scrub: value(
    z.strictObject({
      id,
      path,
      found,
      files: z.array(scrubbedFile),
      snapshots: z.array(z.unknown()),
      scrubbed: flag,
      notLookedFor: count.describe("lines of stdin that were too short to search for"),
    }),
  ),
  sandbox: value(
    z.strictObject({
      works: flag,
      detail: text.optional(),
      reason: text.optional().describe("why it does not work"),
      mode: SandboxMode,
      workspace: text.optional(),
      writableRoots: texts.optional(),
      network: text.optional(),
      unixSockets: text.optional(),
    }),
  ),
  doctor: value(
    z.strictObject({
      conversations: count,
      problems: count,
      notes: count,
      findings: z.array(z.looseObject({ kind: text, needsPerson: flag, help: nullable })),
      sandbox: z.looseObject({ works: flag }).optional(),
      interrupted: flag,
    }),
  ),
  "mock-llm": {
    prints: "lines",
    forms: [
      { when: "the first line", schema: z.strictObject({ url: text, env: z.record(text, text) }) },
      {
        when: "each request",
        schema: z.strictObject({
          number: count,
          method: text,
          path: text,
          session: text.optional(),
          status: count.nullable(),
          refusal: text.optional(),
          fault: text.optional(),
        }),
      },
    ],
  },
  demo: value(z.strictObject({ steps: z.array(z.strictObject({ command: text, exit_code: count })) })),
  completion: value(z.strictObject({ kind: z.enum(["bash", "zsh", "fish", "man"]), text })),
  "": { ...event, note: "Every event; with `--list`, what `cody list` prints." },
};
