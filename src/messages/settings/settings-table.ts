import type * as z from "zod";
import type { Schemas } from "./setting-values.js";

/** One setting. Its environment variable follows from its key: `CODY_TURN_LIMITS_STEPS` for `turnLimits.steps`. */
export interface SettingRow {
  /** A function, because building schemas loads the schema library, and most runs do not need it. */
  readonly schema: (schemas: Schemas) => z.ZodType;
  /**
   * How a text from the command line or the environment becomes a value. The entries of a `table` have names chosen by
   * the user, so it has no environment variable.
   */
  readonly kind: "text" | "number" | "number-or-false" | "boolean" | "list" | "table";
  /** The value if no source sets one. Absent if there is none, or if it depends on other things. */
  readonly default?: string | number | boolean | readonly string[];
  /** `user` settings are refused in a project's configuration, even if the project is trusted. */
  readonly scope: "user" | "project";
  /** A name from the source documents that files and `cody config` also accept. */
  readonly otherName?: `${string}.${string}`;
  /**
   * The name of its group, if the group's name alone also sets it: `sandbox: read-only` in a file, `CODY_SANDBOX`, and
   * `cody config set sandbox`.
   */
  readonly shortName?: string;
  /** The part of docs/config.md that lists the setting. */
  readonly section: "model" | "permissions" | "turn" | "compaction" | "knowledge" | "terminal" | "storage" | "tables";
  /** The documented default, if the value alone is not clear enough. */
  readonly defaultText?: string;
  readonly description: string;
}

/**
 * All settings, in the order in which `cody config` lists them. The schema `Config`, environment variables, defaults,
 * `cody config` and docs/config.md derive from it.
 */
export const settingsTable = {
  provider: {
    schema: (s) => s.ProviderName,
    kind: "text",
    scope: "project",
    section: "model",
    defaultText: "the one that has a key",
    description: "the provider",
  },
  api: {
    schema: (s) => s.WireApi,
    kind: "text",
    scope: "project",
    section: "model",
    defaultText: "the provider's first",
    description: "`responses`, `chat` or `messages`",
  },
  model: {
    schema: (s) => s.modelName,
    kind: "text",
    scope: "project",
    section: "model",
    defaultText: "the provider's",
    description: "the model",
  },
  baseUrl: {
    schema: (s) => s.BaseUrl,
    kind: "text",
    scope: "user",
    section: "model",
    defaultText: "the provider's",
    description: "the provider's address; it belongs to the provider it was set for",
  },
  providers: {
    schema: (s) => s.record(s.ProviderName, s.ProviderEntry),
    kind: "table",
    scope: "user",
    section: "tables",
    description: "keys and addresses by provider: [Providers](#providers)",
  },
  models: {
    schema: (s) => s.record(s.modelName, s.ModelEntry),
    kind: "table",
    scope: "project",
    section: "tables",
    description: "models that cody does not know, and overrides for those it knows: [Models](#models)",
  },
  auth: {
    schema: (s) => s.AuthMethod,
    kind: "text",
    scope: "user",
    section: "model",
    description: "the authentication method: [logins.md](logins.md)",
  },
  logins: {
    schema: (s) => s.strictObject({ chatgpt: s.LoginEntry.optional(), claude: s.LoginEntry.optional() }),
    kind: "table",
    scope: "user",
    section: "tables",
    description: "other OAuth servers for `chatgpt` and `claude`: [logins.md](logins.md)",
  },
  limits: {
    schema: (s) => s.record(s.ProviderName, s.RequestLimits),
    kind: "table",
    scope: "project",
    section: "tables",
    description: "request limits by provider: [Request limits](#request-limits)",
  },
  approvalPolicy: {
    schema: (s) => s.ApprovalPolicy,
    kind: "text",
    default: "on-request",
    scope: "user",
    section: "permissions",
    description:
      "when approval is needed: `on-request`, `untrusted`, `never`; [cli.md](cli.md#approvals) has the table",
  },
  "sandbox.mode": {
    schema: (s) => s.SandboxMode,
    kind: "text",
    default: "workspace-write",
    scope: "user",
    shortName: "sandbox",
    section: "permissions",
    description: "`read-only`, `workspace-write`, `danger-full-access`: [sandbox.md](sandbox.md)",
  },
  "sandbox.writableRoots": {
    schema: (s) => s.array(s.writableRoot).max(100),
    kind: "list",
    defaultText: "none",
    scope: "user",
    section: "permissions",
    description:
      "folders besides the working folder that commands in the sandbox may write to, absolute or below `~`; separated by commas on the command line",
  },
  "sandbox.network": {
    schema: (s) => s.enum(["off", "on"]),
    kind: "text",
    default: "off",
    scope: "user",
    section: "permissions",
    description: "`on` gives commands in the sandbox the network of the machine",
  },
  "sandbox.unixSockets": {
    schema: (s) => s.enum(["off", "workspace"]),
    kind: "text",
    default: "off",
    scope: "user",
    section: "permissions",
    description: "`workspace` lets commands in the sandbox use unix sockets, which some test suites need",
  },
  "turnLimits.steps": {
    schema: (s) => s.positiveInteger,
    kind: "number",
    default: 200,
    scope: "project",
    section: "turn",
    description: "model calls",
  },
  "turnLimits.seconds": {
    schema: (s) => s.number().positive().max(1_000_000),
    kind: "number",
    default: 3_600,
    scope: "project",
    section: "turn",
    description: "working time; waiting for a person does not count",
  },
  "turnLimits.tokens": {
    schema: (s) => s.positiveInteger,
    kind: "number",
    default: 10_000_000,
    scope: "project",
    section: "turn",
    description: "tokens sent and received, as the provider counts them",
  },
  "turnLimits.cost": {
    schema: (s) => s.number().positive().max(1_000_000),
    kind: "number",
    defaultText: "no limit",
    // Only the user pays.
    scope: "user",
    section: "turn",
    description:
      "US dollars for model calls, by the prices of the model table; not enforced for a model without a known price, which is reported",
  },
  "turnLimits.answerBytes": {
    // A longer answer would not fit in one rollout line.
    schema: (s) => s.byteLimit.max(128 * 1024 * 1024),
    kind: "number",
    default: 8 * 1024 * 1024,
    defaultText: "8 MiB",
    scope: "project",
    section: "turn",
    description:
      "text, reasoning and tool calls of one answer or summary. At this limit and the next the turn fails, and what arrived before is kept",
  },
  "turnLimits.turnBytes": {
    schema: (s) => s.byteLimit.max(256 * 1024 * 1024),
    kind: "number",
    default: 64 * 1024 * 1024,
    defaultText: "64 MiB",
    scope: "project",
    section: "turn",
    description: "the same for all answers of a turn together",
  },
  "turnLimits.approvalSeconds": {
    schema: (s) => s.number().positive().max(1_000_000),
    kind: "number",
    default: 86_400,
    scope: "project",
    section: "turn",
    description: "how long an approval request waits for its decision",
  },
  "turnLimits.identicalFailures": {
    schema: (s) => s.number().int().min(0).max(1_000_000),
    kind: "number",
    default: 3,
    scope: "project",
    section: "turn",
    description:
      "stops a turn in which the same tool call with the same arguments keeps failing, with no new successful call in between; 0 for no limit",
  },
  "compaction.enabled": {
    schema: (s) => s.boolean,
    kind: "boolean",
    default: true,
    scope: "project",
    section: "compaction",
    description: "`false` turns automatic compaction off",
  },
  "compaction.strategy": {
    schema: (s) => s.StrategyName,
    kind: "text",
    // Depends on the model.
    defaultText: "`codex`",
    scope: "project",
    section: "compaction",
    description: "what is kept: `codex`, `recent-turns`, `recent-tokens`, `user-only` (default for o1, o3, o4)",
  },
  "compaction.mode": {
    schema: (s) => s.enum(["blocking", "background"]),
    kind: "text",
    default: "blocking",
    scope: "project",
    section: "compaction",
    description:
      "when the summary is made: `blocking` when it is needed, `background` before that; the prompt uses `background` unless it is set",
  },
  "compaction.ratio": {
    schema: (s) => s.CompactionThresholds.shape.ratio.unwrap(),
    kind: "number",
    default: 0.8,
    scope: "project",
    section: "compaction",
    description: "the part of the context window",
  },
  "compaction.tokenLimit": {
    schema: (s) => s.CompactionThresholds.shape.tokenLimit.unwrap(),
    kind: "number",
    scope: "project",
    section: "compaction",
    description: "a number of tokens",
  },
  "compaction.reserveTokens": {
    schema: (s) => s.CompactionThresholds.shape.reserveTokens.unwrap(),
    kind: "number",
    scope: "project",
    section: "compaction",
    description: "how many tokens of the window stay free; at most half of it counts",
  },
  "compaction.keepRecentTokens": {
    schema: (s) => s.tokens,
    kind: "number",
    default: 20_000,
    scope: "project",
    section: "compaction",
    description: "what `recent-tokens` keeps",
  },
  "compaction.keepTurns": {
    schema: (s) => s.positiveInteger.max(1000),
    kind: "number",
    default: 5,
    scope: "project",
    section: "compaction",
    description: "what `recent-turns` keeps",
  },
  "compaction.userMessageTokens": {
    schema: (s) => s.tokens,
    kind: "number",
    default: 20_000,
    scope: "project",
    section: "compaction",
    description: "what `codex` keeps of your messages",
  },
  "compaction.preserveToolResults": {
    schema: (s) => s.enum(["all", "recent", "none"]),
    kind: "text",
    default: "recent",
    scope: "project",
    section: "compaction",
    description: "which tool results survive: `all` that fit, those of kept turns (`recent`), or `none`",
  },
  "compaction.onFailure": {
    schema: (s) => s.enum(["keep", "placeholder"]),
    kind: "text",
    default: "keep",
    scope: "project",
    section: "compaction",
    description:
      "if no summary can be made: `keep` the history while it fits, or compact at once without a model (`placeholder`)",
  },
  "compaction.prompt": {
    schema: (s) => s.string().min(1).max(20_000),
    kind: "text",
    defaultText: "cody's",
    scope: "project",
    section: "compaction",
    description: "the prompt for the summary",
  },
  contextWindow: {
    schema: (s) => s.number().int().min(1000).max(100_000_000),
    kind: "number",
    defaultText: "known for common models",
    scope: "project",
    section: "model",
    description: "how many tokens the model accepts, for a model cody does not know or a server of your own",
  },
  systemPrompt: {
    schema: (s) => s.prompt,
    kind: "text",
    defaultText: "cody's",
    scope: "project",
    section: "model",
    description: "replaces cody's base prompt",
  },
  instructions: {
    schema: (s) => s.union([s.prompt, s.array(s.prompt).max(100)]),
    kind: "text",
    scope: "project",
    section: "model",
    description: "a text, or in the file a list of texts, that the model gets after the instruction files",
  },
  "knowledge.enabled": {
    schema: (s) => s.boolean,
    kind: "boolean",
    default: true,
    scope: "project",
    section: "knowledge",
    description: "whether knowledge of a project is saved and given to models: [context.md](context.md#knowledge)",
  },
  "knowledge.injectionBudget": {
    schema: (s) => s.number().int().nonnegative().max(1_000_000),
    kind: "number",
    default: 8_192,
    scope: "project",
    section: "knowledge",
    description: "the maximum number of tokens of knowledge that a model gets",
  },
  mcp_servers: {
    schema: (s) => s.McpServerEntries,
    kind: "table",
    scope: "project",
    section: "tables",
    description: "MCP servers by name, in the format of Codex's configuration: [mcp.md](mcp.md)",
  },
  hooks: {
    schema: (s) => s.HooksConfig,
    kind: "table",
    scope: "project",
    section: "tables",
    description: "commands that run before and after tools and turns: [hooks.md](hooks.md)",
  },
  toolEnv: {
    schema: (s) => s.array(s.variableName).max(100),
    kind: "list",
    defaultText: "none",
    scope: "user",
    section: "permissions",
    description:
      "names of environment variables that commands get besides the harmless ones; separated by commas on the command line",
  },
  "redaction.sensitivePatterns": {
    schema: (s) => s.array(s.SensitivePattern).max(100),
    kind: "list",
    // The words of a name may be joined in any way.
    default: [
      "password",
      "passwd",
      "passphrase",
      "api_key",
      "secret",
      "secret_key",
      "access_key",
      "private_key",
      "client_secret",
      "token",
      "authorization",
    ],
    defaultText: "common names",
    scope: "user",
    otherName: "history.sensitivePatterns",
    section: "storage",
    description:
      "names whose values are not written to disk: [security.md](security.md#secrets-in-saved-conversations)",
  },
  "redaction.shapes": {
    schema: (s) => s.boolean,
    kind: "boolean",
    default: false,
    scope: "user",
    section: "storage",
    description: "whether text that only looks like a key is removed too",
  },
  "history.maxSize": {
    schema: (s) => s.positiveInteger,
    kind: "number",
    default: 1_000,
    scope: "project",
    section: "storage",
    description: "how many of the newest turns the model sees; the file keeps all",
  },
  "export.directory": {
    schema: (s) => s.path,
    kind: "text",
    defaultText: "your downloads folder",
    scope: "user",
    otherName: "persistence.exportDirectory",
    section: "storage",
    description: "where exports are written",
  },
  "terminal.screen": {
    schema: (s) => s.boolean,
    kind: "boolean",
    default: true,
    scope: "user",
    section: "terminal",
    description: "`false` opens the plain prompt instead of the interactive screen, like `--plain`",
  },
  "terminal.theme": {
    schema: (s) => s.enum(["auto", "dark", "light", "none"]),
    kind: "text",
    default: "auto",
    scope: "user",
    section: "terminal",
    description: "the colours: `auto` follows the terminal's background, `none` uses no colour",
  },
  "terminal.keys": {
    schema: (s) => s.enum(["emacs", "vi"]),
    kind: "text",
    default: "emacs",
    scope: "user",
    section: "terminal",
    description: "the keys of the editor: `emacs` or `vi`",
  },
  "terminal.notifications": {
    schema: (s) => s.enum(["auto", "osc", "bell", "off"]),
    kind: "text",
    default: "auto",
    scope: "user",
    section: "terminal",
    description:
      "how a conversation out of sight reports that it needs you or has ended: a desktop notification of the terminal (`osc`), its `bell`, or `off`; `auto` uses the notification where the terminal is known to have it",
  },
  "persistence.enabled": {
    schema: (s) => s.boolean,
    kind: "boolean",
    default: true,
    scope: "user",
    otherName: "history.saveHistory",
    section: "storage",
    description: "`false` saves nothing",
  },
  "persistence.layout": {
    schema: (s) => s.Layout,
    kind: "text",
    default: "cody",
    scope: "user",
    otherName: "storage.layout",
    section: "storage",
    description:
      "how new conversations are stored: `cody`, `project`, `codex`: [file-format.md](file-format.md#layouts)",
  },
  "persistence.directory": {
    schema: (s) => s.path,
    kind: "text",
    defaultText: "as the layout says",
    scope: "user",
    section: "storage",
    description: "a directory of your own for conversations; then nothing else is listed",
  },
  "persistence.retentionDays": {
    schema: (s) => s.boundOrNone(36_500),
    kind: "number-or-false",
    default: 30,
    scope: "user",
    section: "storage",
    description:
      "after how many days without a message a conversation is announced for clean-up; 0 or `false` for never: [retention.md](retention.md)",
  },
  "persistence.maxConversationsPerProject": {
    schema: (s) => s.boundOrNone(10_000_000),
    kind: "number-or-false",
    default: 100,
    scope: "user",
    section: "storage",
    description: "how many conversations of a project are kept; 0 or `false` for all",
  },
  "persistence.maxFileMegabytes": {
    schema: (s) => s.number().positive().max(1_000_000),
    kind: "number",
    defaultText: "no limit",
    scope: "user",
    section: "storage",
    description: "the maximum size of a conversation's file; above it no new turn begins",
  },
  "persistence.maxBlobMegabytes": {
    schema: (s) => s.number().nonnegative().max(1_000_000),
    kind: "number",
    default: 100,
    scope: "user",
    section: "storage",
    description:
      "the maximum size of the tool outputs, and of the file versions, stored beside a conversation's file; 0 for none",
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

type Table = typeof settingsTable;

/** The dotted path of a setting. */
type SettingKey = keyof Table;

/** The first part of a dotted path. */
export type SettingGroup = SettingKey extends infer Key
  ? Key extends `${infer Group}.${string}`
    ? Group
    : never
  : never;

type SettingSchema<K extends SettingKey> = ReturnType<Table[K]["schema"]>;

/** The schema of the whole configuration: every setting is optional, and so is every group. */
export type ConfigShape = {
  [K in SettingKey as K extends `${string}.${string}` ? never : K]: z.ZodOptional<SettingSchema<K>>;
} & {
  [G in SettingGroup]: z.ZodOptional<z.ZodObject<GroupShape<G>, z.core.$strict>>;
};

type GroupShape<G extends SettingGroup> = {
  [K in SettingKey as K extends `${G}.${infer Name}` ? Name : never]: z.ZodOptional<SettingSchema<K>>;
};

/** The value types of settings by their other names. */
export type OtherNames = {
  [K in SettingKey as Table[K] extends { readonly otherName: infer Name extends string } ? Name : never]: z.infer<
    SettingSchema<K>
  >;
};

/** The value types of settings by their short names. */
export type ShortNames = {
  [K in SettingKey as Table[K] extends { readonly shortName: infer Name extends string } ? Name : never]: z.infer<
    SettingSchema<K>
  >;
};

/** The value of a setting with its default; undefined only if it has none. */
export type EffectiveValue<K extends SettingKey> =
  Readonly<z.infer<SettingSchema<K>>> | (Table[K] extends { readonly default: unknown } ? never : undefined);

/** The values of a group by their names in it. */
export type EffectiveGroup<G extends SettingGroup> = {
  readonly [K in SettingKey as K extends `${G}.${infer Name}` ? Name : never]: EffectiveValue<K>;
};

/** Settings with a single value, which can also be set by an environment variable and by `cody config set`. */
export type ConfigKey = { [K in SettingKey]: Table[K]["kind"] extends "table" ? never : K }[SettingKey];

/** The rows as a list, with all their optional columns. */
export const settingRows: readonly (SettingRow & { readonly key: SettingKey })[] = Object.entries(settingsTable).map(
  ([key, row]) => ({ ...row, key: key as SettingKey }),
);
