/** The flags of all commands. A flag that was not given is absent or false, unless noted otherwise. */
export interface Flags {
  readonly model?: string;
  readonly provider?: string;
  readonly api?: string;
  readonly baseUrl?: string;
  readonly approvalPolicy?: string;
  readonly sandbox?: string;
  readonly layout?: string;
  readonly conversationDir?: string;
  readonly home?: string;
  readonly limit?: string;
  /** The position at which a list continues. */
  readonly cursor?: string;
  readonly sort?: string;
  readonly since?: string;
  /** The name of a new conversation. */
  readonly name?: string;
  /** The number of turns to copy. */
  readonly afterTurn?: string;
  /** The number of a turn, counted from 1. */
  readonly turn?: string;
  readonly port?: string;
  readonly script?: string;
  readonly log?: string;
  readonly strategy?: string;
  /** The wire API to check a conversation for. */
  readonly wire?: string;
  /** The export format. */
  readonly format?: string;
  readonly output?: string;
  /** A file with the JSON Schema for the answer. */
  readonly outputSchema?: string;
  /** The format of the files to import. */
  readonly from?: string;
  /** Names whose values are secrets, besides the configured ones. */
  readonly pattern?: string;
  /** The minimum age of conversations to clean up. */
  readonly olderThan?: string;
  /** The type, confidence, tags and replaced entry of new knowledge. */
  readonly type?: string;
  readonly confidence?: string;
  readonly tags?: string;
  readonly supersedes?: string;
  /** The address of an MCP server. */
  readonly url?: string;
  /** The environment variable that holds the server's token. */
  readonly bearerTokenEnvVar?: string;
  /** Variables for an MCP server, as NAME=VALUE. */
  readonly env?: readonly string[];
  /** True if given without an id: the newest conversation of the project. */
  readonly resume?: string | true;
  readonly continue: boolean;
  readonly force: boolean;
  readonly json: boolean;
  /** Prints control characters unchanged. */
  readonly raw: boolean;
  readonly list: boolean;
  readonly project: boolean;
  /** Uses Codex's conversations, whatever the layout is. */
  readonly codex: boolean;
  readonly last: boolean;
  readonly fork: boolean;
  /** Continues in the folder the conversation was in. */
  readonly recordedCwd: boolean;
  /** Makes changes in commands that only report by default. */
  readonly write: boolean;
  /** Only reports what would be done. */
  readonly dryRun: boolean;
  readonly undo: boolean;
  /** Shows every source of each setting. */
  readonly explain: boolean;
  /** Prints line counts instead of a diff. */
  readonly stat: boolean;
  /** Replaces an existing entry of the same name. */
  readonly replace: boolean;
  /** Also restores files that have changed since. */
  readonly overwrite: boolean;
  /** Every conversation, or every place they are stored in; the exact meaning depends on the command. */
  readonly all: boolean;
  /** Works on the trash. */
  readonly trash: boolean;
  /** Confirms an action that asks for confirmation. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** False after `--no-persistence`. */
  readonly persistence: boolean;
  /** Whether stdin is read: by `scrub` with `--stdin`, by `chat` unless `--no-stdin` was given. */
  readonly stdin: boolean;
  /** Stores a key in the operating system's keyring. */
  readonly keyring: boolean;
  /** False after `--no-shapes`. */
  readonly shapes: boolean;
  /** False after `--no-strict`. */
  readonly strict: boolean;
}

type Definition = readonly [flag: string, description: string];

export const globalFlags: readonly Definition[] = [
  ["--model <model>", "Model to use"],
  ["--provider <name>", "Provider to use"],
  ["--api <api>", "API to use: responses, chat or messages"],
  ["--base-url <url>", "Override the provider's base URL"],
  ["--resume [id]", "Continue this conversation, or this project's latest one"],
  ["--continue", "Continue this project's latest conversation"],
  ["--force", "Take over a locked conversation; re-import"],
  ["--no-persistence", "Do not save this run"],
  ["--layout <layout>", "File layout for new conversations: cody, codex (visible to Codex) or project"],
  ["--conversation-dir <path>", "Directory for conversations"],
  ["--approval-policy <policy>", "When to ask for approval: on-request, untrusted or never"],
  ["--sandbox <mode>", "What tools may access: read-only, workspace-write or danger-full-access"],
  ["--json", "Print JSON instead of text"],
  ["--raw", "Print text to stdout unchanged, including control characters"],
  ["--home <path>", "Directory for cody's files, instead of $CODY_HOME or ~/.cody"],
  ["-h, --help", "Show this help"],
  ["-v, --version", "Show the version"],
];

const codexFlag: Definition = ["--codex", "Use Codex's conversations ($CODEX_HOME or ~/.codex) instead of cody's"];

const recordedCwdFlag: Definition = [
  "--recorded-cwd",
  "Continue in the folder the conversation was in, instead of the current folder",
];

const allFlag: Definition = ["--all", "Include all locations: cody's default and configured directories, and Codex's"];

export const listFlags: readonly Definition[] = [
  ["--limit <count>", "Maximum number of conversations"],
  ["--cursor <cursor>", "Continue after the last row of an earlier list with --limit"],
  ["--sort <order>", "Sort by updated (default), created, name or size"],
  ["--project", "Only conversations of this project"],
  allFlag,
  codexFlag,
];

const placeFlags: readonly Definition[] = [["--project", "Only conversations of this project"], allFlag, codexFlag];
const sinceFlag: Definition = ["--since <time>", "Only what changed since: 7d, 12h, 2w, or a date like 2026-11-01"];

export const searchFlags: readonly Definition[] = [
  ["--limit <count>", "Maximum number of conversations (default: 20)"],
  sinceFlag,
  ...placeFlags,
];

export const indexFlags: readonly Definition[] = [allFlag, codexFlag];

export const statsFlags: readonly Definition[] = [sinceFlag, ...placeFlags];

export const resumeFlags: readonly Definition[] = [
  codexFlag,
  ["--last", "Use this project's latest conversation (default if no id is given)"],
  ["--fork", "Continue in a copy and leave the original unchanged"],
  recordedCwdFlag,
];

export const forkFlags: readonly Definition[] = [
  ["--after-turn <n>", "Number of turns to copy, from the first (default: all)"],
  ["--name <name>", "Name of the copy: 1 to 100 printable characters"],
  recordedCwdFlag,
  codexFlag,
];

export const configFlags: readonly Definition[] = [["--explain", "Show every source of each setting"]];

export const compactFlags: readonly Definition[] = [
  ["--dry-run", "Show what would be kept and dropped, without a model call or a change"],
  ["--strategy <name>", "Compaction strategy: codex, recent-turns, recent-tokens or user-only"],
  ["--undo", "Restore the history from before the last compaction"],
];

export const diffFlags: readonly Definition[] = [
  ["--turn <n>", "Only the changes of this turn, counted from 1 (default: all turns together)"],
  ["--stat", "Show only file names and line counts"],
];

export const undoFlags: readonly Definition[] = [
  ["--turn <n>", "Revert this turn, counted from 1, instead of the last one that changed files"],
  ["--undo", "Revert the last undo"],
  ["--overwrite", "Also restore files that changed since; their current content is backed up"],
  ["--yes", "Apply the changes"],
];

export const exportFlags: readonly Definition[] = [
  ["--format <format>", "Output format: markdown (default), html, json, codex, envoy or diligent"],
  ["--output <file>", "Output file, or - for stdout (not with --json), instead of a file in export.directory"],
  ["--all", "Export all conversations of this project"],
  codexFlag,
];

export const importFlags: readonly Definition[] = [
  ["--from <format>", "Input format: codex, turns, envoy, diligent, json, claude-code or pi (default: detect)"],
  ["--dry-run", "Show what would be imported and what would be lost, without writing anything"],
];

export const checkFlags: readonly Definition[] = [
  ["--wire <api>", "Check only this API: responses, chat or messages"],
  codexFlag,
];

export const repairFlags: readonly Definition[] = [
  ["--write", "Repair the file and keep the original next to it (default: preview only)"],
  codexFlag,
];

export const scrubFlags: readonly Definition[] = [
  ["--write", "Remove the secrets without keeping a copy of the old file (default: preview only)"],
  ["--dry-run", "Preview only (the default without --write)"],
  ["--pattern <names>", "Also remove the values of these names (comma-separated)"],
  ["--stdin", "Also remove the text of each line of stdin"],
  ["--no-shapes", "Do not remove text that only looks like a key; only known keys and named values"],
  codexFlag,
];

export const nameFlags: readonly Definition[] = [
  ["--name <name>", "Start a conversation with this name: 1 to 100 printable characters"],
];

export const chatFlags: readonly Definition[] = [
  ...nameFlags,
  ["--output-schema <file>", "Require a JSON answer that matches the JSON Schema in this file"],
  ["--no-stdin", "Do not append piped stdin to the message (for cron, CI and while-read loops)"],
  recordedCwdFlag,
];

export const interactiveFlags: readonly Definition[] = [
  ["--list", "Same as: cody list"],
  recordedCwdFlag,
  ...listFlags,
];

export const renameFlags: readonly Definition[] = [codexFlag];

export const pinFlags: readonly Definition[] = [codexFlag];

export const cleanFlags: readonly Definition[] = [
  ["--older-than <age>", "Only conversations without activity for this long: 12h, 7d (default) or 2w"],
  ["--all", "All conversations of this project; with --trash, everything in the trash"],
  ["--project", "Only conversations of this project"],
  ["--dry-run", "Show what would be moved, without moving it"],
  ["--trash", "Permanently delete what has been in the trash for 30 days (preview unless --yes)"],
  ["--yes", "Confirm permanent deletion"],
];

export const knowledgeFlags: readonly Definition[] = [
  ["--type <type>", "With add: pattern (default), decision, discovery, preference or correction"],
  ["--confidence <number>", "With add: confidence from 0 to 1 (default: 0.8)"],
  ["--tags <tags>", "With add: comma-separated tags"],
  ["--supersedes <id>", "With add: the entry it replaces, by id or text"],
  ["--older-than <age>", "With prune: also remove entries older than 12h, 7d or 2w"],
  ["--dry-run", "With prune: show what would be removed, without removing it"],
  ["--output <file>", "With export: write to this file instead of stdout"],
  ["--all", "With list: include replaced entries"],
];

export const undeleteFlags: readonly Definition[] = [["--list", "List the trash (default if no id is given)"]];

export const setAuthFlags: readonly Definition[] = [
  ["--keyring", "Store the key in the operating system's keyring instead of the config file"],
];

export const loginFlags: readonly Definition[] = [
  ["--port <port>", "Port for the browser's callback (default: 1455, the one ChatGPT accepts)"],
];

export const doctorFlags: readonly Definition[] = [codexFlag];

export const mcpFlags: readonly Definition[] = [
  ["--url <url>", "With add: URL of a streamable HTTP server"],
  ["--bearer-token-env-var <name>", "With add --url: environment variable that holds the server's token"],
  [
    "--env <NAME=VALUE>",
    "With add: environment variable for the server (repeatable); NAME=- reads the value from stdin",
  ],
  ["--port <port>", "With login: port for the browser's callback (default: any free port)"],
  ["--replace", "With add: replace the existing server of this name"],
];

export const trustFlags: readonly Definition[] = [
  ["--undo", "Stop trusting the project"],
  ["--list", "List trusted and untrusted projects"],
];

export const mockLlmFlags: readonly Definition[] = [
  ["--port <port>", "Port to listen on (default: any free port)"],
  ["--script <file>", "JSON file with scripted answers (default: the offline model answers)"],
  ["--no-strict", "Also accept requests the real API would reject"],
  ["--log <file>", "Append every request as a JSON line, without keys"],
];
