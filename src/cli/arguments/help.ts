import type { CAC } from "cac";
import { brokenLines, helpTable, type HelpRow } from "../format/help-table.js";

type Command = CAC["commands"][number];

/** The help text of one command, or of cody if `command` is the unnamed one. */
export function helpText(cli: CAC, command: Command, columns: number | undefined): string {
  const table = (rows: readonly HelpRow[]): string => helpTable(rows, columns).join("\n");
  const isBare = command.name === "";
  const commands = cli.commands.filter(({ name }) => name !== "");
  const own = command.options.map(rowOf);
  const shared = cli.globalCommand.options.map(rowOf);
  return [
    isBare ? "cody: conversations with a coding model" : command.description,
    `Usage:\n  cody ${isBare ? "[command] [options]" : `${command.rawName} [options]`}`,
    ...(isBare ? [`Commands:\n${table(commands.map(({ rawName, description }) => [rawName, description]))}`] : []),
    `Options:\n${table([...own, ...shared])}`,
    ...(isBare
      ? [
          `Approvals:\n${indented(noSandbox, columns)}\n${table(policies)}`,
          `Without a command, cody starts an interactive conversation.\nHelp for one command: cody <command> --help`,
        ]
      : []),
  ].join("\n\n");
}

const noSandbox = "This version has no sandbox: by default, every command and every file change needs your approval.";
const policies: readonly HelpRow[] = [
  ["--approval-policy on-request", "ask, except with --sandbox danger-full-access  (default)"],
  ["--approval-policy untrusted", "always ask, whatever the sandbox"],
  [
    "--approval-policy never",
    "never ask: only read-only tools run; with --sandbox danger-full-access, everything runs",
  ],
];

function rowOf({ rawName, description }: { rawName: string; description: string }): HelpRow {
  return [rawName, description];
}

function indented(text: string, columns = Infinity): string {
  const indent = "  ";
  return brokenLines(text, columns - indent.length)
    .map((line) => indent + line)
    .join("\n");
}
