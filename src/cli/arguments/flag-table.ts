import type { ConfigKey } from "../../messages/settings/settings-table.js";

/** The kinds of flags, and the type of the value that a command gets. */
interface KindValues {
  /** Takes no value: true if the flag was given. */
  switch: boolean;
  text: string;
  /** A path as it was typed; relative ones are relative to the current folder. */
  path: string;
  /** May be given without a value, which is `true`. */
  "optional text": string | true;
  /** May be given several times; every value is kept. Of other flags that are given twice, the last value wins. */
  texts: readonly string[];
  /** A whole number from 1. */
  number: number;
  /** A positive number, such as 2.50. */
  amount: number;
}

type FlagKind = keyof KindValues;

interface FlagRow {
  readonly kind: FlagKind;
  /** The placeholder of the value in the help text; absent for switches. */
  readonly value?: string;
  readonly short?: string;
  /** Other spellings, which users of other tools know. */
  readonly aliases?: readonly string[];
  /** Of no use to people: for programs written for Codex, without effect here, or for cody's own scripts. */
  readonly isHidden?: true;
  /** The help text, unless a command has its own for this flag. */
  readonly description: string;
  /** The setting it overrides for one command. A switch turns its setting off. */
  readonly setting?: ConfigKey;
}

/**
 * Every flag of every command. The key is the name of its value in `context.flags`; the spelling follows from it:
 * `baseUrl` is `--base-url`. A flag never holds a secret, because other users can see arguments.
 */
const flagTable = {
  model: { kind: "text", value: "<model>", short: "-m", description: "Model to use", setting: "model" },
  provider: { kind: "text", value: "<name>", description: "Provider to use", setting: "provider" },
  api: { kind: "text", value: "<api>", description: "API to use: responses, chat or messages", setting: "api" },
  baseUrl: { kind: "text", value: "<url>", description: "Override the provider's base URL", setting: "baseUrl" },
  resume: {
    kind: "optional text",
    value: "[id]",
    short: "-r",
    description: "Continue this conversation, or this project's latest one",
  },
  continue: { kind: "switch", short: "-c", description: "Continue this project's latest conversation" },
  force: { kind: "switch", description: "Take over a locked conversation" },
  noPersistence: {
    kind: "switch",
    aliases: ["--ephemeral", "--no-session-persistence"],
    description: "Do not save this run",
    setting: "persistence.enabled",
  },
  plain: {
    kind: "switch",
    description: "Use the plain prompt: words instead of symbols, nothing is redrawn",
    setting: "terminal.screen",
  },
  layout: {
    kind: "text",
    value: "<layout>",
    description: "File layout for new conversations: cody, codex (visible to Codex) or project",
    setting: "persistence.layout",
  },
  conversationDir: {
    kind: "path",
    value: "<path>",
    description: "Directory for conversations",
    setting: "persistence.directory",
  },
  approvalPolicy: {
    kind: "text",
    value: "<policy>",
    description: "When to ask for approval: on-request, untrusted or never",
    setting: "approvalPolicy",
  },
  sandbox: {
    kind: "text",
    value: "<mode>",
    description: "What tools may access: read-only, workspace-write or danger-full-access",
    setting: "sandbox.mode",
  },
  addDir: {
    kind: "texts",
    value: "<folder>",
    description: "Let tools write in this folder too, with --sandbox workspace-write (repeatable)",
  },
  allow: {
    kind: "texts",
    value: "<rule>",
    description: "Run what this rule matches without asking, such as 'npm test' (repeatable)",
  },
  deny: { kind: "texts", value: "<rule>", description: "Refuse what this rule matches (repeatable)" },
  cd: { kind: "path", value: "<folder>", short: "-C", description: "Run as if started in this folder" },
  json: { kind: "switch", aliases: ["--experimental-json"], description: "Print JSON instead of text" },
  raw: { kind: "switch", description: "Print text to stdout unchanged, including control characters" },
  home: {
    kind: "path",
    value: "<path>",
    description: "Directory for cody's files, instead of $CODY_HOME or ~/.cody",
  },
  help: { kind: "switch", short: "-h", description: "Show this help" },
  version: { kind: "switch", short: "-v", description: "Show the version" },

  codex: { kind: "switch", description: "Use Codex's conversations ($CODEX_HOME or ~/.codex) instead of cody's" },
  recordedCwd: {
    kind: "switch",
    description: "Continue in the folder the conversation was in, instead of the current folder",
  },
  all: {
    kind: "switch",
    description: "Include all locations: cody's default and configured directories, and Codex's",
  },
  project: { kind: "switch", description: "Only conversations of this project" },
  limit: { kind: "number", value: "<count>", description: "Maximum number of conversations" },
  cursor: {
    kind: "text",
    value: "<cursor>",
    description: "Continue after the last row of an earlier list with --limit",
  },
  sort: { kind: "text", value: "<order>", description: "Sort by updated (default), created, name or size" },
  since: {
    kind: "text",
    value: "<time>",
    description: "Only what changed since: 7d, 12h, 2w, or a date like 2026-11-01",
  },
  last: { kind: "switch", description: "Use this project's latest conversation (default if no id is given)" },
  fork: { kind: "switch", description: "Continue in a copy and leave the original unchanged" },
  afterTurn: {
    kind: "number",
    value: "<n>",
    description: "Number of turns to copy, from the first (default: all)",
  },
  name: {
    kind: "text",
    value: "<name>",
    description: "Start a conversation with this name: 1 to 100 printable characters",
  },
  explain: { kind: "switch", description: "Show every source of each setting" },
  dryRun: { kind: "switch", description: "Show what would be done, without doing it" },
  strategy: {
    kind: "text",
    value: "<name>",
    description: "Compaction strategy: codex, recent-turns, recent-tokens or user-only",
  },
  undo: { kind: "switch", description: "Revert the last undo" },
  turn: {
    kind: "number",
    value: "<n>",
    description: "Only the changes of this turn, counted from 1 (default: all turns together)",
  },
  stat: { kind: "switch", description: "Show only file names and line counts" },
  overwrite: {
    kind: "switch",
    description: "Also restore files that changed since; their current content is backed up",
  },
  yes: { kind: "switch", description: "Apply the changes" },
  format: {
    kind: "text",
    value: "<format>",
    description: "Output format: markdown (default), html, json, codex, envoy or diligent",
  },
  output: {
    kind: "path",
    value: "<file>",
    short: "-o",
    aliases: ["--output-last-message"],
    description: "Output file, or - for stdout (not with --json), instead of a file in export.directory",
  },
  from: {
    kind: "text",
    value: "<format>",
    description: "Input format: codex, turns, envoy, diligent, json, claude-code or pi (default: detect)",
  },
  wire: { kind: "text", value: "<api>", description: "Check only this API: responses, chat or messages" },
  write: { kind: "switch", description: "Make the changes (default: preview only)" },
  pattern: {
    kind: "text",
    value: "<names>",
    description: "Also remove the values of these names (comma-separated)",
  },
  stdin: { kind: "switch", description: "Also remove the text of each line of stdin" },
  noShapes: {
    kind: "switch",
    description: "Do not remove text that only looks like a key; only known keys and named values",
  },
  outputSchema: {
    kind: "path",
    value: "<file>",
    description: "Require a JSON answer that matches the JSON Schema in this file",
  },
  image: {
    kind: "texts",
    value: "<file>",
    short: "-i",
    description: "Attach an image to the message (repeatable)",
  },
  print: { kind: "switch", short: "-p", description: "Same as: cody exec" },
  fullAuto: { kind: "switch", description: "Same as: --approval-policy never --sandbox workspace-write" },
  maxTurns: {
    kind: "number",
    value: "<count>",
    description: "Maximum number of model calls",
    setting: "turnLimits.steps",
  },
  timeout: {
    kind: "number",
    value: "<seconds>",
    description: "Maximum working time",
    setting: "turnLimits.seconds",
  },
  config: {
    kind: "texts",
    value: "<key=value>",
    description: "Override a setting for this run, under its name here or in Codex (repeatable)",
  },
  steer: { kind: "switch", description: "Add the message to the running turn; the model gets it with its next call" },
  queue: { kind: "switch", description: "Begin a turn with the message after the running one (default)" },
  key: {
    kind: "text",
    value: "<key>",
    description: "Send at most once: the same key again is accepted without effect",
  },
  now: {
    kind: "switch",
    description: "With answer: also continue the turn here, if no process has the conversation open",
  },
  concurrency: {
    kind: "number",
    value: "<count>",
    description: "Number of tasks that run at the same time (default: 4)",
  },
  maxCost: {
    kind: "amount",
    value: "<dollars>",
    aliases: ["--max-budget-usd"],
    description: "Stop when this much was spent",
  },
  quiet: { kind: "switch", short: "-q", description: "Show only problems on stderr, not the progress" },
  skipGitRepoCheck: { kind: "switch", isHidden: true, description: "Without effect: no git repository is needed" },
  threadSource: { kind: "text", value: "<source>", isHidden: true, description: "Without effect" },
  cyberAccessProgram: { kind: "text", value: "<program>", isHidden: true, description: "Without effect" },
  outputFormat: {
    kind: "text",
    value: "<format>",
    description: "With stream-json: the messages of Claude Code, for the Claude Agent SDK",
  },
  inputFormat: {
    kind: "text",
    value: "<format>",
    description: "With stream-json: messages and answers come from stdin",
  },
  permissionMode: {
    kind: "text",
    value: "<mode>",
    isHidden: true,
    description: "With stream-json: default, acceptEdits, plan, dontAsk or bypassPermissions",
  },
  permissionPromptTool: {
    kind: "text",
    value: "<tool>",
    isHidden: true,
    description: "With stream-json: stdio, to ask the program about calls that need approval",
  },
  allowedTools: {
    kind: "texts",
    value: "<rules>",
    aliases: ["--allowedTools"],
    isHidden: true,
    description: "With stream-json: tools and commands that need no question, as Claude Code writes them",
  },
  disallowedTools: {
    kind: "texts",
    value: "<rules>",
    aliases: ["--disallowedTools"],
    isHidden: true,
    description: "With stream-json: tools and commands that are refused, as Claude Code writes them",
  },
  tools: {
    kind: "text",
    value: "<names>",
    isHidden: true,
    description: "With stream-json: the only tools that may be used",
  },
  allowDangerouslySkipPermissions: {
    kind: "switch",
    isHidden: true,
    description: "With stream-json: makes the mode bypassPermissions possible",
  },
  dangerouslySkipPermissions: {
    kind: "switch",
    isHidden: true,
    description: "With stream-json: starts in the mode bypassPermissions",
  },
  includePartialMessages: {
    kind: "switch",
    isHidden: true,
    description: "With stream-json: also print each piece of an answer",
  },
  jsonSchema: {
    kind: "text",
    value: "<schema>",
    isHidden: true,
    description: "With stream-json: the answer must be JSON that matches this JSON Schema",
  },
  sessionId: {
    kind: "text",
    value: "<uuid>",
    isHidden: true,
    description: "With stream-json: id of the new conversation",
  },
  forkSession: {
    kind: "switch",
    isHidden: true,
    description: "With stream-json: continue in a copy of the resumed conversation",
  },
  effort: { kind: "text", value: "<effort>", isHidden: true, description: "With stream-json: the reasoning effort" },
  mcpConfig: { kind: "text", value: "<servers>", isHidden: true, description: "Refused: use cody mcp add" },
  settingSources: { kind: "text", value: "<names>", isHidden: true, description: "Without effect" },
  fallbackModel: { kind: "text", value: "<model>", isHidden: true, description: "Without effect" },
  maxThinkingTokens: { kind: "text", value: "<count>", isHidden: true, description: "Without effect" },
  thinking: { kind: "text", value: "<mode>", isHidden: true, description: "Without effect" },
  betas: { kind: "text", value: "<names>", isHidden: true, description: "Without effect" },
  strictMcpConfig: { kind: "switch", isHidden: true, description: "Without effect" },
  verbose: { kind: "switch", isHidden: true, description: "Without effect" },
  noStdin: {
    kind: "switch",
    description: "Do not append piped stdin to the message (for cron, CI and while-read loops)",
  },
  match: {
    kind: "texts",
    value: "<example>",
    description: "With allow, ask, deny: what the rule must match (repeatable)",
  },
  notMatch: {
    kind: "texts",
    value: "<example>",
    description: "With allow, ask, deny: what the rule must not match (repeatable)",
  },
  list: { kind: "switch", description: "Same as: cody list" },
  conversations: {
    kind: "switch",
    isHidden: true,
    description: "Print the newest names and ids, for a completion script",
  },
  olderThan: {
    kind: "text",
    value: "<age>",
    description: "Only conversations without activity for this long: 12h, 7d (default) or 2w",
  },
  trash: {
    kind: "switch",
    description: "Permanently delete what has been in the trash for 30 days (preview unless --yes)",
  },
  type: {
    kind: "text",
    value: "<type>",
    description: "With add: pattern (default), decision, discovery, preference or correction",
  },
  confidence: { kind: "text", value: "<number>", description: "With add: confidence from 0 to 1 (default: 0.8)" },
  tags: { kind: "text", value: "<tags>", description: "With add: comma-separated tags" },
  supersedes: { kind: "text", value: "<id>", description: "With add: the entry it replaces, by id or text" },
  keyring: {
    kind: "switch",
    description: "Store the key in the operating system's keyring instead of the config file",
  },
  // Text, because the commands allow different ports.
  port: { kind: "text", value: "<port>", description: "Port to listen on (default: any free port)" },
  url: { kind: "text", value: "<url>", description: "With add: URL of a streamable HTTP server" },
  bearerTokenEnvVar: {
    kind: "text",
    value: "<name>",
    description: "With add --url: environment variable that holds the server's token",
  },
  env: {
    kind: "texts",
    value: "<NAME=VALUE>",
    description: "With add: environment variable for the server (repeatable); NAME=- reads the value from stdin",
  },
  replace: { kind: "switch", description: "With add: replace the existing server of this name" },
  script: {
    kind: "path",
    value: "<file>",
    description: "JSON file with scripted answers (default: the offline model answers)",
  },
  noStrict: { kind: "switch", description: "Also accept requests the real API would reject" },
  log: { kind: "path", value: "<file>", description: "Append every request as a JSON line, without keys" },
} as const satisfies Record<string, FlagRow>;

export type FlagName = keyof typeof flagTable;

type ValueOf<F extends FlagName> = KindValues[(typeof flagTable)[F]["kind"]];

type SwitchName = { [F in FlagName]: (typeof flagTable)[F]["kind"] extends "switch" ? F : never }[FlagName];

/** The values of these flags. A switch is always there; any other flag is absent if it was not given. */
export type FlagValues<F extends FlagName> = { readonly [S in F & SwitchName]: boolean } & {
  readonly [V in Exclude<F, SwitchName>]?: ValueOf<V>;
};

/** Flags that every command accepts. */
export const globalFlags = ["json", "raw", "home", "help", "version"] as const satisfies readonly FlagName[];

export type GlobalFlag = (typeof globalFlags)[number];

/** The flags of one command line, whichever command it is for. */
export type GivenFlags = FlagValues<GlobalFlag> & Partial<FlagValues<FlagName>>;

/** Flags that override a setting. */
export type SettingFlag = { [F in FlagName]: (typeof flagTable)[F] extends { setting: string } ? F : never }[FlagName];

/** All flags in the order of the table. */
export const flagNames = Object.keys(flagTable) as readonly FlagName[];

export function flagRow(name: FlagName): FlagRow {
  return flagTable[name];
}

/** The flag as it is typed, such as `--base-url`. */
export function spellingOf(name: FlagName): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Every spelling of the flag: the short one, its own and those of other tools. */
export function spellingsOf(name: FlagName): string[] {
  const { short, aliases = [] } = flagRow(name);
  return [...(short === undefined ? [] : [short]), spellingOf(name), ...aliases];
}

/** The flag as help and documents show it, such as `-h, --help` or `--base-url <url>`. */
export function flagUsage(name: FlagName): string {
  const { short, value } = flagRow(name);
  return [
    ...(short === undefined ? [] : [`${short},`]),
    spellingOf(name),
    ...(value === undefined ? [] : [value]),
  ].join(" ");
}
