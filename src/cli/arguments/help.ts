import { brokenLines, helpTable, type HelpRow } from "../help-table.js";
import {
  type CommandGroup,
  commandGroups,
  type CommandName,
  commandNames,
  commandRow,
  everydayCommands,
} from "./command-table.js";
import { type FlagName, flagRow, flagUsage, globalFlags } from "./flag-table.js";

const confinement =
  "Where the sandbox works (cody sandbox status), commands in it and changes inside the folder need no approval; " +
  "without it, every command and every file change does.";
const policies: readonly HelpRow[] = [
  ["--approval-policy on-request", "ask to leave the sandbox, except with --sandbox danger-full-access  (default)"],
  ["--approval-policy untrusted", "ask for everything that no rule allows, whatever the sandbox"],
  [
    "--approval-policy never",
    "never ask, and refuse what would be asked about; with --sandbox danger-full-access, everything runs",
  ],
];

/** The help text of one command, or of cody if `name` is empty. Without `columns`, lines are not wrapped. */
export function helpText(name: CommandName, columns: number | undefined): string {
  if (name === "") return mainHelpText(columns);
  const { usage, description, examples } = commandRow(name);
  return [
    description,
    `Usage:\n  cody ${groupedUsage(name) ?? usage} [options]`,
    `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`,
    ...optionSections(name, columns),
  ].join("\n\n");
}

/** The first level: the commands of every day, and the groups of the others. */
function mainHelpText(columns: number | undefined): string {
  const table = (rows: readonly HelpRow[]): string => helpTable(rows, columns).join("\n");
  const groups = commandGroups.map(({ name, description }): HelpRow => [`${name} …`, description]);
  return [
    "cody: conversations with a coding model",
    "Usage:\n  cody [prompt] [options]\n  cody <command> [options]",
    `Commands:\n${table(everydayCommands.map(usageRow))}`,
    `More commands:\n${table(groups)}`,
    `Examples:\n${commandRow("")
      .examples.map((example) => `  ${example}`)
      .join("\n")}`,
    ...optionSections("", columns),
    `Approvals:\n${indented(confinement, columns)}\n${table(policies)}`,
    [
      ...brokenLines(
        "Without a command, cody starts a conversation; several words are its first message.",
        columns ?? Infinity,
      ),
      "Every command: cody help --all. One command or group: cody help <name>",
    ].join("\n"),
  ].join("\n\n");
}

/** The second level: every command, those of a group under their name in it. */
export function allHelpText(columns: number | undefined): string {
  const names = commandNames.filter((name) => name !== "");
  const rows = names.map((name): HelpRow => [
    groupedUsage(name) ?? commandRow(name).usage,
    commandRow(name).description,
  ]);
  const note = "Members of a group also have their name alone, such as cody search for cody conversation search.";
  return `Commands:\n${helpTable(rows, columns).join("\n")}\n\n${brokenLines(note, columns ?? Infinity).join("\n")}`;
}

/** The commands of a group. */
export function groupHelpText(group: CommandGroup, columns: number | undefined): string {
  const { name, description, commands, aliases } = group;
  const rows = Object.entries(commands).map(([member, command]): HelpRow => [
    `${name} ${memberUsage(member, command)}`,
    commandRow(command).description,
  ]);
  return [
    description,
    `Usage:\n  cody ${name} <command> [options]`,
    `Commands:\n${helpTable(rows, columns).join("\n")}`,
    ...(aliases.length === 0 ? [] : [`${name} is also called ${aliases.join(" and ")}.`]),
    `Help for one command: cody help ${name} <command>`,
  ].join("\n\n");
}

function optionSections(name: CommandName, columns: number | undefined): string[] {
  const table = (flags: readonly FlagName[]): string =>
    helpTable(
      flags.map((flag) => flagHelp(name, flag)),
      columns,
    ).join("\n");
  const shown = commandRow(name).flags.filter((flag) => flagRow(flag).isHidden !== true);
  return [...(shown.length === 0 ? [] : [`Options:\n${table(shown)}`]), `Global options:\n${table(globalFlags)}`];
}

function usageRow(name: CommandName): HelpRow {
  const { usage, description } = commandRow(name);
  return [usage, description];
}

/** The usage of a command under its name in a group; undefined if its own name is documented. */
function groupedUsage(name: CommandName): string | undefined {
  if (everydayCommands.includes(name)) return undefined;
  for (const group of commandGroups) {
    const member = Object.keys(group.commands).find((each) => group.commands[each] === name);
    if (member !== undefined) return `${group.name} ${memberUsage(member, name)}`;
  }
  return undefined;
}

/** The member's word and the arguments of its command. */
function memberUsage(member: string, name: CommandName): string {
  const [, ...args] = commandRow(name).usage.split(" ");
  return [member, ...(name === "auth" ? [] : args)].join(" ");
}

/** A flag of a command, and what it does there. */
export function flagHelp(name: CommandName, flag: FlagName): HelpRow {
  return [flagUsage(flag), commandRow(name).describe?.[flag] ?? flagRow(flag).description];
}

function indented(text: string, columns = Infinity): string {
  const indent = "  ";
  return brokenLines(text, columns - indent.length)
    .map((line) => indent + line)
    .join("\n");
}
