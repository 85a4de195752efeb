import { brokenLines, helpTable, type HelpRow } from "../help-table.js";
import { type CommandName, commandNames, commandRow } from "./command-table.js";
import { type FlagName, flagRow, flagUsage, globalFlags } from "./flag-table.js";

const noSandbox = "This version has no sandbox: by default, every command and every file change needs your approval.";
const policies: readonly HelpRow[] = [
  ["--approval-policy on-request", "ask, except with --sandbox danger-full-access  (default)"],
  ["--approval-policy untrusted", "always ask, whatever the sandbox"],
  [
    "--approval-policy never",
    "never ask: only read-only tools run; with --sandbox danger-full-access, everything runs",
  ],
];

/** The help text of one command, or of cody if `name` is empty. Without `columns`, lines are not wrapped. */
export function helpText(name: CommandName, columns: number | undefined): string {
  const table = (rows: readonly HelpRow[]): string => helpTable(rows, columns).join("\n");
  const { usage, description, flags } = commandRow(name);
  const isBare = name === "";
  return [
    isBare ? "cody: conversations with a coding model" : description,
    `Usage:\n  cody ${isBare ? "[command] [options]" : `${usage} [options]`}`,
    ...(isBare ? [`Commands:\n${table(commandRows())}`] : []),
    ...(flags.length === 0 ? [] : [`Options:\n${table(flags.map((flag) => flagHelp(name, flag)))}`]),
    `Global options:\n${table(globalFlags.map((flag) => flagHelp(name, flag)))}`,
    ...(isBare
      ? [
          `Approvals:\n${indented(noSandbox, columns)}\n${table(policies)}`,
          `Without a command, cody starts an interactive conversation.\nHelp for one command: cody <command> --help`,
        ]
      : []),
  ].join("\n\n");
}

/** A flag of a command, and what it does there. */
export function flagHelp(name: CommandName, flag: FlagName): HelpRow {
  return [flagUsage(flag), commandRow(name).describe?.[flag] ?? flagRow(flag).description];
}

function commandRows(): HelpRow[] {
  return commandNames.flatMap((name): HelpRow[] => {
    const { usage, description } = commandRow(name);
    return name === "" ? [] : [[usage, description]];
  });
}

function indented(text: string, columns = Infinity): string {
  const indent = "  ";
  return brokenLines(text, columns - indent.length)
    .map((line) => indent + line)
    .join("\n");
}
