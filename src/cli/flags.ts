/** The flags of all commands; what was not given is absent or false. */
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
  /** How a new conversation is called. */
  readonly name?: string;
  readonly port?: string;
  readonly script?: string;
  readonly log?: string;
  readonly strategy?: string;
  /** How old a conversation must be to be cleaned up. */
  readonly olderThan?: string;
  /** True without an id: the newest conversation of the project. */
  readonly resume?: string | true;
  readonly continue: boolean;
  readonly force: boolean;
  readonly json: boolean;
  readonly list: boolean;
  readonly project: boolean;
  /** Codex's conversations, whatever the layout is. */
  readonly codex: boolean;
  readonly last: boolean;
  readonly fork: boolean;
  /** Change something that would otherwise only be looked at. */
  readonly write: boolean;
  /** Only say what would be done. */
  readonly dryRun: boolean;
  readonly undo: boolean;
  /** All there is, instead of what is old. */
  readonly all: boolean;
  /** What is in the trash. */
  readonly trash: boolean;
  /** Do what cannot be taken back. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
  /** False after `--no-persistence`. */
  readonly persistence: boolean;
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
  ["--force", "Take the conversation although its owner, on another machine, cannot be proved gone"],
  ["--no-persistence", "Save nothing in this run"],
  ["--layout <layout>", "How new conversations are filed: cody, codex (where Codex finds them) or project"],
  ["--conversation-dir <path>", "Where conversations are kept"],
  ["--approval-policy <policy>", "When you are asked: on-request, untrusted or never"],
  ["--sandbox <mode>", "What tools may touch: read-only, workspace-write or danger-full-access"],
  ["--json", "Print JSON instead of text"],
  ["--home <path>", "Where cody keeps its files, instead of $CODY_HOME or ~/.cody"],
  ["-h, --help", "Show this help"],
  ["-v, --version", "Show the version"],
];

const codexFlag: Definition = ["--codex", "Conversations of Codex, in $CODEX_HOME or ~/.codex, instead of cody's"];

export const listFlags: readonly Definition[] = [
  ["--limit <count>", "At most this many conversations"],
  ["--project", "Only conversations of this project"],
  codexFlag,
];

export const resumeFlags: readonly Definition[] = [
  codexFlag,
  ["--last", "The newest conversation of this project, as without an id"],
  ["--fork", "Go on in a copy, and leave the conversation as it is"],
];

export const compactFlags: readonly Definition[] = [
  ["--dry-run", "Say what would be kept and dropped; spends nothing and changes nothing"],
  ["--strategy <name>", "What is kept: codex, recent-turns, recent-tokens or user-only"],
  ["--undo", "Go back to the history before the last compaction"],
];

export const repairFlags: readonly Definition[] = [
  ["--write", "Repair it, and keep the original beside it; without this it is only said what would be done"],
  codexFlag,
];

export const nameFlags: readonly Definition[] = [
  ["--name <name>", "Begin a conversation of this name: 1 to 100 printable characters"],
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

export const undeleteFlags: readonly Definition[] = [["--list", "Show what is in the trash, as without an id"]];

export const doctorFlags: readonly Definition[] = [codexFlag];

export const mockLlmFlags: readonly Definition[] = [
  ["--port <port>", "Where to listen; without it a free port is taken"],
  ["--script <file>", "What to answer, as JSON; without it the offline model answers"],
  ["--no-strict", "Answer also what the real API would refuse"],
  ["--log <file>", "Append every request as a line of JSON, without keys"],
];
