import { counted } from "../../../../base/text/counted.js";
import { quotedWord } from "../../../../base/text/quoted-command.js";
import { visible } from "../../../../base/text/visible.js";
import type { SandboxStatus } from "../../../../tools/exec/command-sandbox.js";
import type { RolloutFinding } from "../../../../rollouts/repair/repair-scan.js";
import { type CommandContext, printLine } from "../../../context.js";

/** Whether a person must act. Other findings are fixed by using cody, or do no harm. */
const needsUser = {
  damaged: true,
  beginning_missing: true,
  first_line_missing: false,
  torn: false,
  newline_missing: false,
  not_regular: true,
  not_a_directory: true,
  unreadable: true,
  unwritable: true,
  foreign_owner: true,
  exposed: true,
  dead_lock: false,
  far_lock: false,
  garbled_lock: true,
  temporary: false,
  last_copy: false,
  changed_blob: false,
  orphaned_blobs: false,
  dead_sockets: false,
  unusable_config: true,
  broken_hook: true,
} satisfies Record<Finding["kind"], boolean>;

/** In the text output, further problems and further notes are only counted. */
const maxShown = 20;
/** The maximum number of findings in the JSON output. */
const maxListed = 1000;

/** Prints findings while the store is checked, and a summary at the end. Bounded, however much is wrong. */
export class DoctorReport {
  readonly #context: CommandContext;
  readonly #repairCommand: (finding: Finding) => Promise<string>;
  readonly #listed: object[] = [];
  #problems = 0;
  #notes = 0;
  conversations = 0;

  constructor(context: CommandContext, repairCommand: (finding: Finding) => Promise<string>) {
    this.#context = context;
    this.#repairCommand = repairCommand;
  }

  get problems(): number {
    return this.#problems;
  }

  async add(finding: Finding): Promise<void> {
    const isProblem = needsUser[finding.kind];
    const number = isProblem ? (this.#problems += 1) : (this.#notes += 1);
    if (this.#context.flags.json) await this.#list(finding, isProblem);
    else if (number <= maxShown) await this.#show(finding, isProblem ? "✗" : "·");
  }

  /** Without a status of the sandbox, doctor was interrupted. */
  async end(sandbox: SandboxStatus | undefined): Promise<void> {
    const interrupted = sandbox === undefined;
    const [problems, notes] = [this.#problems, this.#notes];
    if (this.#context.flags.json) {
      const facts = {
        conversations: this.conversations,
        problems,
        notes,
        findings: this.#listed,
        sandbox,
        interrupted,
      };
      return await printLine(this.#context, JSON.stringify(facts));
    }
    const hidden = [counted(problems - maxShown, "more problem"), counted(notes - maxShown, "more note")];
    const lines = [problems, notes].flatMap((all, index) => (all > maxShown ? [`  and ${hidden[index]}`] : []));
    const done = `${interrupted ? "Interrupted after" : "Checked"} ${counted(this.conversations, "conversation")}`;
    const verdict =
      problems > 0 ? counted(problems, "problem") : interrupted ? "no problems so far" : "no problems found";
    lines.push(`${done}: ${[verdict, ...(notes > 0 ? [counted(notes, "note")] : [])].join(", ")}`);
    if (!interrupted) {
      const state = sandbox.works ? `works: ${sandbox.detail}` : `does not work: ${sandbox.reason}`;
      lines.push(`Sandbox ${visible(state)}`);
    }
    return await printLine(this.#context, lines.join("\n"));
  }

  async #show(finding: Finding, mark: string): Promise<void> {
    const help = findingHelp(finding, await this.#repairCommand(finding));
    const lines = [`${mark} ${findingText(finding)}`, ...(help ? [`  ${help.lead}: ${help.command}`] : [])];
    await printLine(this.#context, lines.join("\n"));
  }

  async #list(finding: Finding, isProblem: boolean): Promise<void> {
    if (this.#listed.length === maxListed) return;
    const help = findingHelp(finding, await this.#repairCommand(finding))?.command ?? null;
    this.#listed.push({ ...finding, needsPerson: isProblem, help });
  }
}

/** A command that fixes a finding, and the words before it. */
interface Help {
  readonly lead: string;
  readonly command: string;
}

function findingText(finding: Finding): string {
  // The reason names the file itself.
  if (finding.kind === "unusable_config") return visible(finding.reason);
  return visible(`${finding.id ?? finding.path}: ${factText(finding)}`);
}

/** The fix for a finding; `repair` is the command that would repair the conversation. */
function findingHelp(finding: Finding, repair: string): Help | undefined {
  const path = quotedWord(finding.path);
  switch (finding.kind) {
    case "damaged":
    case "first_line_missing":
      return { lead: "Preview a repair", command: repair };
    case "exposed":
      return { lead: "Run", command: `chmod ${finding.remedy} ${path}` };
    case "temporary":
    case "changed_blob":
      return { lead: "Run", command: `rm ${path}` };
    case "orphaned_blobs":
      return { lead: "Run", command: `rm -r ${path}` };
    case "last_copy":
      return { lead: "If you do not need it", command: `rm ${path}` };
    case "far_lock":
    case "garbled_lock":
      return { lead: "If no other cody is using it", command: `rm ${path}` };
    default:
      return undefined;
  }
}

/** Adding a kind does not compile until it has a text here: the default branch needs `sockets`. */
function factText(finding: Exclude<Finding, { kind: "unusable_config" }>): string {
  switch (finding.kind) {
    case "damaged":
      return `line ${finding.line}: ${finding.reason}${moreText(finding.damagedLines - 1)}`;
    case "beginning_missing":
      return finding.reason;
    case "first_line_missing":
      return "the first line, which identifies the conversation, is missing";
    case "torn":
      return `the last line is incomplete (${counted(finding.bytes, "byte")}); resuming moves it to a backup next to the file`;
    case "newline_missing":
      return "the last line has no newline; resuming adds it";
    case "not_regular":
      return `not a regular file: ${finding.path}`;
    case "not_a_directory":
      return "not a directory";
    case "unreadable":
      return `cannot read it: ${finding.reason}`;
    case "unwritable":
      return `cannot write to it: ${finding.reason}`;
    case "foreign_owner":
      return `belongs to another user (uid ${finding.uid})`;
    case "exposed":
      return `other users can ${finding.others} it (mode ${finding.mode})`;
    case "dead_lock":
      return `stale lock of pid ${finding.pid}, which has ended; the next resume replaces it`;
    case "far_lock":
      return `locked by ${finding.owner}`;
    case "garbled_lock":
      return "an unreadable lock; the conversation cannot be changed";
    case "temporary":
      return "a leftover temporary file";
    case "last_copy":
      return "the old content of a file whose change was interrupted; this is the only copy here";
    case "changed_blob":
      return "a damaged stored file: its content does not match its hash";
    case "orphaned_blobs":
      return `${counted(finding.blobs, "file")} of a conversation that no longer exists`;
    case "broken_hook":
      return `the program ${finding.program} of a ${finding.event} hook cannot be run; change the setting hooks`;
    default:
      return finding.sockets === 1
        ? "1 socket of an ended process; the next start of cody removes it"
        : `${finding.sockets} sockets of ended processes; the next start of cody removes them`;
  }
}

function moreText(lines: number): string {
  return lines === 0 ? "" : `, and ${counted(lines, "more damaged line")}`;
}

/** A problem or note reported by doctor. */
export type Finding = RolloutFinding | StoreFinding;

/** A problem with a file or a folder. For a rollout, `id` names its conversation. */
export type StoreFinding = { readonly path: string; readonly id?: string } & (
  | { readonly kind: "not_regular" }
  | { readonly kind: "not_a_directory" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "unwritable"; readonly reason: string }
  | { readonly kind: "foreign_owner"; readonly uid: number }
  /** `remedy` is the mode for `chmod`. */
  | { readonly kind: "exposed"; readonly mode: string; readonly others: string; readonly remedy: string }
  | { readonly kind: "dead_lock"; readonly pid: number }
  | { readonly kind: "far_lock"; readonly owner: string }
  | { readonly kind: "garbled_lock" }
  | { readonly kind: "temporary" }
  /** The old content of a file whose change was interrupted by the death of its process. */
  | { readonly kind: "last_copy" }
  /** The content does not match the hash in its name. */
  | { readonly kind: "changed_blob" }
  /** The rollout these contents belong to is gone. */
  | { readonly kind: "orphaned_blobs"; readonly blobs: number }
  | { readonly kind: "dead_sockets"; readonly sockets: number }
  | { readonly kind: "unusable_config"; readonly reason: string }
  | { readonly kind: "broken_hook"; readonly event: string; readonly program: string }
);
