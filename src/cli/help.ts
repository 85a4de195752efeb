import type { CAC } from "cac";

type Command = CAC["commands"][number];
type Row = readonly [name: string, description: string];

/** How a command is used; without one, how cody is. */
export function helpText(cli: CAC, command: Command): string {
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
      ? [approvals, `Without a command cody talks interactively.\nFor one command: cody <command> --help`]
      : []),
  ].join("\n\n");
}

const approvals = `Approvals:
  This version has no sandbox, so by default you are asked before a command runs and before a file is written.
  --approval-policy on-request  asks; nothing is asked with --sandbox danger-full-access  (default)
  --approval-policy untrusted   asks, whatever the sandbox is
  --approval-policy never       asks nothing: only reading runs; with --sandbox danger-full-access everything does`;

function rowOf({ rawName, description }: { rawName: string; description: string }): Row {
  return [rawName, description];
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, description]) => `  ${name.padEnd(width)}  ${description}`).join("\n");
}
