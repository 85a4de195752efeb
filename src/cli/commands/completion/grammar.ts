import { modelTable } from "../../../config/models/model-table.js";
import { vendorNames } from "../../../config/providers/vendors.js";
import { strategies } from "../../../compaction/strategy-for.js";
import { settingRows } from "../../../messages/settings/settings-table.js";
import { AuthMethod, Layout, WireApi } from "../../../messages/settings/setting-values.js";
import { KnowledgeType } from "../../../messages/tools/knowledge.js";
import { ApprovalPolicy, SandboxMode } from "../../../messages/tools/policy.js";
import { exportFormats } from "../../../rollouts/formats/export/export-format.js";
import { importFormats } from "../../../rollouts/formats/import/source.js";
import {
  type CommandGroup,
  commandGroups,
  type CommandName,
  commandNames,
  commandRow,
  groupOf,
} from "../../arguments/command-table.js";
import { type FlagName, flagNames, flagRow, globalFlags, spellingOf, spellingsOf } from "../../arguments/flag-table.js";
import { flagHelp } from "../../arguments/help.js";
import { orderNames } from "../conversations/list-page.js";

/** The words that a shell offers at one place: fixed ones, files, or conversations, which it asks cody for. */
export type Candidates = readonly string[] | "files" | "conversations";

/** A word with its help text. */
export interface Described {
  readonly word: string;
  readonly description: string;
}

/** A flag that takes a value. */
interface ValueFlag {
  /** All its spellings, also those that are not offered. */
  readonly spellings: readonly string[];
  readonly candidates: Candidates;
}

/** The candidates for the arguments of a command. */
export interface Arguments {
  readonly command: CommandName;
  readonly first: readonly Candidates[];
  /** For every argument after those. */
  readonly others: Candidates;
}

/** The scripts and pages that `cody completion` prints. */
export const completionKinds = ["bash", "zsh", "fish", "man"] as const;

export function isCompletionKind(text: string): text is (typeof completionKinds)[number] {
  return completionKinds.some((kind) => kind === text);
}

const none: Candidates = [];

/** `on-failure` is only understood in files that Codex wrote. */
const policies = ApprovalPolicy.options.filter((policy) => policy !== "on-failure");

const flagCandidates: { readonly [F in FlagName]?: Candidates } = {
  model: modelTable.map(({ id }) => id),
  provider: vendorNames,
  api: WireApi.options,
  wire: WireApi.options,
  resume: "conversations",
  layout: Layout.options,
  approvalPolicy: policies,
  sandbox: SandboxMode.options,
  sort: orderNames,
  strategy: [...strategies.keys()],
  format: exportFormats,
  from: importFormats,
  type: KnowledgeType.options,
  // The id of a knowledge entry.
  supersedes: none,
};

/** The placeholders of flags and arguments that stand for a path. */
const pathPlaceholders = new Set(["file", "path", "folder", "old", "new"]);

/** The arguments of a command that its usage does not explain. */
const argumentCandidates: { readonly [N in CommandName]?: readonly Candidates[] } = {
  index: [["rebuild", "status"]],
  // Its id is that of a conversation in the trash.
  undelete: [none],
  "set-provider": [vendorNames],
  "set-auth": [AuthMethod.options],
  auth: [["status"]],
  config: [["get", "set", "unset", "path"], settingRows.map(({ key }) => key)],
  knowledge: [["list", "add", "undo", "remove", "prune", "export", "import"]],
  mcp: [["list", "add", "remove", "test", "login", "logout"]],
  sandbox: [["status", "run"]],
  hooks: [["list"]],
  daemon: [["start", "status", "stop", "logs", "unit"]],
  approvals: [["list", "show", "answer"], none, ["yes", "always", "project", "no", "stop"]],
  permissions: [["list", "test", "allow", "ask", "deny", "remove", "import"]],
  help: [firstWords().map(({ word }) => word)],
  completion: [completionKinds],
};

/** The first words: every command, every group and the aliases of the groups. */
export function firstWords(): Described[] {
  const commands = commandNames
    .filter((name) => name !== "" && groupOf(name) === undefined)
    .map((word) => ({ word, description: commandRow(word).description }));
  const groups = commandGroups.flatMap((group) =>
    wordsOf(group).map((word) => ({ word, description: group.description })),
  );
  return [...commands, ...groups];
}

/** The second words of a group. */
export function members({ commands }: CommandGroup): (Described & { readonly command: CommandName })[] {
  return Object.entries(commands).map(([word, command]) => ({
    word,
    command,
    description: commandRow(command).description,
  }));
}

/** The name of a group and its aliases. */
export function wordsOf({ name, aliases }: CommandGroup): string[] {
  return [name, ...aliases];
}

/** The flags that a command offers, with its own help texts. */
export function offeredFlags(command: CommandName): Described[] {
  const shown = [...commandRow(command).flags, ...globalFlags].filter((flag) => flagRow(flag).isHidden !== true);
  return shown.flatMap((flag) => {
    const [, description] = flagHelp(command, flag);
    const { short } = flagRow(flag);
    return [spellingOf(flag), ...(short === undefined ? [] : [short])].map((word) => ({ word, description }));
  });
}

/** The flags that take a value; a flag has one kind in all commands. */
export function valueFlags(): ValueFlag[] {
  return flagNames.flatMap((flag) => {
    const { value, isHidden = false } = flagRow(flag);
    if (value === undefined || isHidden) return [];
    return [{ spellings: spellingsOf(flag), candidates: flagCandidates[flag] ?? byPlaceholder(value) }];
  });
}

/** The arguments of the commands that have some. */
export function commandArguments(): Arguments[] {
  return commandNames.flatMap((command) => {
    const placeholders = commandRow(command).usage.match(/[<[][^\]>]+[\]>]/g) ?? [];
    if (placeholders.length === 0) return [];
    const last = placeholders.at(-1) ?? "";
    const first = placeholders.map(
      (placeholder, index) => argumentCandidates[command]?.[index] ?? byPlaceholder(placeholder),
    );
    return [{ command, first, others: last.includes("...") ? byPlaceholder(last) : none }];
  });
}

function byPlaceholder(placeholder: string): Candidates {
  const name = placeholder.replaceAll(/[<>[\].]/g, "");
  if (name === "id" || name === "ids") return "conversations";
  return pathPlaceholders.has(name) ? "files" : none;
}
