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
  ["--model <model>", "The model that answers"],
  ["--provider <name>", "The provider the model is reached through"],
  ["--api <api>", "How the provider is spoken to: responses, chat or messages"],
  ["--base-url <url>", "Where the provider is reached, instead of its own address"],
  ["--resume [id]", "Go on with this conversation, or with the newest of this project"],
  ["--continue", "Go on with the newest conversation of this project"],
  [
    "--force",
    "Take the conversation although its owner, on another machine, cannot be proved gone; import it once more",
  ],
  ["--no-persistence", "Save nothing in this run"],
  ["--layout <layout>", "How new conversations are filed: cody, codex (where Codex finds them) or project"],
  ["--conversation-dir <path>", "Where conversations are kept"],
  ["--approval-policy <policy>", "When you are asked: on-request, untrusted or never"],
  ["--sandbox <mode>", "What tools may touch: read-only, workspace-write or danger-full-access"],
  ["--json", "Print JSON instead of text"],
  ["--raw", "Print text to stdout as it is, including control characters"],
  ["--home <path>", "Where cody keeps its files, instead of $CODY_HOME or ~/.cody"],
  ["-h, --help", "Show this help"],
  ["-v, --version", "Show the version"],
];

const codexFlag: Definition = ["--codex", "Conversations of Codex, in $CODEX_HOME or ~/.codex, instead of cody's"];

const recordedCwdFlag: Definition = [
  "--recorded-cwd",
  "Continue in the folder the conversation was in, instead of the current folder",
];

const allFlag: Definition = ["--all", "Conversations of every place: cody's own, the configured one, and Codex's"];

export const listFlags: readonly Definition[] = [
  ["--limit <count>", "At most this many conversations"],
  ["--cursor <cursor>", "Go on where an earlier list with --limit ended"],
  ["--sort <order>", "By updated (as without it), created, name or size"],
  ["--project", "Only conversations of this project"],
  allFlag,
  codexFlag,
];

const placeFlags: readonly Definition[] = [["--project", "Only conversations of this project"], allFlag, codexFlag];
const sinceFlag: Definition = ["--since <time>", "Only what has changed since: 7d, 12h, 2w, or a day like 2026-11-01"];

export const searchFlags: readonly Definition[] = [
  ["--limit <count>", "At most this many conversations; 20 without it"],
  sinceFlag,
  ...placeFlags,
];

export const indexFlags: readonly Definition[] = [allFlag, codexFlag];

export const statsFlags: readonly Definition[] = [sinceFlag, ...placeFlags];

export const resumeFlags: readonly Definition[] = [
  codexFlag,
  ["--last", "The newest conversation of this project, as without an id"],
  ["--fork", "Go on in a copy, and leave the conversation as it is"],
  recordedCwdFlag,
];

export const forkFlags: readonly Definition[] = [
  ["--after-turn <n>", "Take over this many turns, counted from the first; without it all of them"],
  ["--name <name>", "Call the copy so: 1 to 100 printable characters"],
  recordedCwdFlag,
  codexFlag,
];

export const configFlags: readonly Definition[] = [["--explain", "Show for each setting all who say something of it"]];

export const compactFlags: readonly Definition[] = [
  ["--dry-run", "Say what would be kept and dropped; spends nothing and changes nothing"],
  ["--strategy <name>", "What is kept: codex, recent-turns, recent-tokens or user-only"],
  ["--undo", "Go back to the history before the last compaction"],
];

export const diffFlags: readonly Definition[] = [
  ["--turn <n>", "Only what this turn changed, counted from the first; without it all of them together"],
  ["--stat", "Only which files, and how many lines"],
];

export const undoFlags: readonly Definition[] = [
  ["--turn <n>", "Take back this turn, counted from the first, instead of the last that changed files"],
  ["--undo", "Take back the last undo"],
  ["--overwrite", "Restore also files that have changed since; what they have now is kept"],
  ["--yes", "Really do it"],
];

export const exportFlags: readonly Definition[] = [
  ["--format <format>", "What to write: markdown (default), html, json, codex, envoy or diligent"],
  [
    "--output <file>",
    "Write this one file, or with - (and without --json) to stdout, instead of one in export.directory",
  ],
  ["--all", "Every conversation of this project"],
  codexFlag,
];

export const importFlags: readonly Definition[] = [
  ["--from <format>", "What it is: codex, turns, envoy, diligent, json, claude-code or pi; found out without it"],
  ["--dry-run", "Say what would be imported, and what could not be carried over; writes nothing"],
];

export const checkFlags: readonly Definition[] = [
  ["--wire <api>", "Only for this API: responses, chat or messages"],
  codexFlag,
];

export const repairFlags: readonly Definition[] = [
  ["--write", "Repair it, and keep the original beside it; without this it is only said what would be done"],
  codexFlag,
];

export const scrubFlags: readonly Definition[] = [
  ["--write", "Take them out, and keep nothing of the old file; without this it is only said what would be done"],
  ["--dry-run", "Only say what would be done, as without --write"],
  ["--pattern <names>", "Also the values of these names, separated by commas"],
  ["--stdin", "Also what stands in the lines of stdin, whatever it looks like"],
  ["--no-shapes", "Only known keys and values of names, not what only looks like a key"],
  codexFlag,
];

export const nameFlags: readonly Definition[] = [
  ["--name <name>", "Begin a conversation of this name: 1 to 100 printable characters"],
];

export const chatFlags: readonly Definition[] = [
  ...nameFlags,
  ["--output-schema <file>", "Let the answer be JSON that fits the JSON Schema in this file"],
  ["--no-stdin", "Do not read stdin, as for cron, CI and while-read loops"],
  recordedCwdFlag,
];

export const interactiveFlags: readonly Definition[] = [
  ["--list", "The same as: cody list"],
  recordedCwdFlag,
  ...listFlags,
];

export const renameFlags: readonly Definition[] = [codexFlag];

export const pinFlags: readonly Definition[] = [codexFlag];

export const cleanFlags: readonly Definition[] = [
  ["--older-than <age>", "Those nothing was said in for so long: 12h, 7d (default) or 2w"],
  ["--all", "All of this project; with --trash, all that is in the trash"],
  ["--project", "Only conversations of this project"],
  ["--dry-run", "Only say what would be moved"],
  ["--trash", "Remove for good what has been in the trash for 30 days; says what without --yes"],
  ["--yes", "Really remove it for good"],
];

export const knowledgeFlags: readonly Definition[] = [
  ["--type <type>", "With add: pattern (default), decision, discovery, preference or correction"],
  ["--confidence <number>", "With add: how sure it is, from 0 to 1; 0.8 without it"],
  ["--tags <tags>", "With add: words it can be found by, separated by commas"],
  ["--supersedes <id>", "With add: what it replaces, by its id or its text"],
  ["--older-than <age>", "With prune: also what is older than 12h, 7d or 2w"],
  ["--dry-run", "With prune: only say what would be removed"],
  ["--output <file>", "With export: write this file instead of stdout"],
  ["--all", "With list: also what was replaced"],
];

export const undeleteFlags: readonly Definition[] = [["--list", "Show what is in the trash, as without an id"]];

export const setAuthFlags: readonly Definition[] = [
  ["--keyring", "Keep the key in the keyring of the operating system instead of in the configuration"],
];

export const loginFlags: readonly Definition[] = [
  ["--port <port>", "Where the browser comes back to; 1455 without it, which is what ChatGPT knows"],
];

export const doctorFlags: readonly Definition[] = [codexFlag];

export const mcpFlags: readonly Definition[] = [
  ["--url <url>", "With add: a server that is reached there, by streamable HTTP"],
  ["--bearer-token-env-var <name>", "With add --url: the environment variable that has the token for it"],
  [
    "--env <NAME=VALUE>",
    "With add: a variable for the server's process; may be given more than once. NAME=- takes the value from stdin",
  ],
  ["--port <port>", "With login: where the browser comes back to; any that is free without it"],
  ["--replace", "With add: in the place of the server that has this name"],
];

export const trustFlags: readonly Definition[] = [
  ["--undo", "Trust it no longer"],
  ["--list", "Show the projects something was said about"],
];

export const mockLlmFlags: readonly Definition[] = [
  ["--port <port>", "Where to listen; without it a free port is taken"],
  ["--script <file>", "What to answer, as JSON; without it the offline model answers"],
  ["--no-strict", "Answer also what the real API would refuse"],
  ["--log <file>", "Append every request as a line of JSON, without keys"],
];
