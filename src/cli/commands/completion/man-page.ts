import { version } from "../../../version.js";
import { commandGroups, type CommandName, commandNames, commandRow } from "../../arguments/command-table.js";
import { type FlagName, flagRow, globalFlags } from "../../arguments/flag-table.js";
import { flagHelp } from "../../arguments/help.js";
import { members } from "./grammar.js";

/** The manual page in roff, without a date, so that the same version always has the same page. */
export function manPage(): string {
  const commands = commandNames.filter((name) => name !== "");
  return `${[
    `.TH CODY 1 "" ${quoted(`cody ${version}`)} "User Commands"`,
    ".SH NAME",
    `cody \\- conversations with a coding model`,
    ".SH SYNOPSIS",
    ".B cody\n[prompt] [options]\n.br\n.B cody\n<command> [options]",
    ".SH DESCRIPTION",
    text(`${commandRow("").description}. Several words are the first message of a conversation.`),
    ...flagLines("", commandRow("").flags),
    ".SH GLOBAL OPTIONS",
    ...flagLines("", globalFlags),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH GROUPS",
    ...commandGroups.flatMap((group) => [
      `.SS ${quoted(["cody", [group.name, ...group.aliases].join(" | ")].join(" "))}`,
      text(group.description),
      ...members(group).flatMap(({ word, command }) => [".TP", `.B ${text(word)}`, text(`Same as: cody ${command}`)]),
    ]),
  ].join("\n")}\n`;
}

function commandLines(name: CommandName): string[] {
  const { usage, description, flags, examples } = commandRow(name);
  return [
    `.SS ${quoted(`cody ${usage}`)}`,
    text(description),
    ...flagLines(name, flags),
    ".PP\nExamples:\n.PP\n.nf",
    ...examples.map((example) => `    ${text(example)}`),
    ".fi",
  ];
}

function flagLines(name: CommandName, flags: readonly FlagName[]): string[] {
  return flags
    .filter((flag) => flagRow(flag).isHidden !== true)
    .flatMap((flag) => {
      const [usage, description] = flagHelp(name, flag);
      return [".TP", `.B ${text(usage)}`, text(description)];
    });
}

/** A line of text: a dash is one that can be copied, and no first character makes it a request. */
function text(line: string): string {
  return line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("~", "\\(ti")
    .replace(/^[.']/, "\\&$&");
}

/** One argument of a request. */
function quoted(argument: string): string {
  return `"${text(argument).replaceAll('"', "\\(dq")}"`;
}
