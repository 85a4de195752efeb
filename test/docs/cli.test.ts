import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import {
  commandGroups,
  type CommandName,
  commandNames,
  commandRow,
  everydayCommands,
  isCommandName,
} from "../../src/cli/arguments/command-table.js";
import { type FlagName, flagNames, flagRow, globalFlags } from "../../src/cli/arguments/flag-table.js";
import { flagHelp } from "../../src/cli/arguments/help.js";
import { type HelpRow, helpTable } from "../../src/cli/help-table.js";

const page = fileURLToPath(new URL("../../docs/cli.md", import.meta.url));

/** A flag that as many commands accept with the same meaning is described once. */
const sharedBy = 5;

// To update the page after a change of the commands or flags: npm run docs
test("docs/cli.md has every command once, with the options of the tables", async () => {
  const text = await readFile(page, "utf8");
  const written = text.replaceAll(
    /(<!-- generated: (.+) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, what: string, end: string) => `${begin}\n${generated(what)}\n\n${end}`,
  );
  const formatted = await format(written, { ...(await resolveConfig(page)), parser: "markdown" });
  await expect(formatted).toMatchFileSnapshot(page);
  const titles = Array.from(formatted.matchAll(/^### (`cody.*)$/gm), ([, title = ""]) => title);
  expect(titles.toSorted()).toEqual(commandNames.map(titleOf).toSorted());
  for (const flag of flagNames) expect(formatted).toContain(flagHelp("", flag)[0]);
});

test("every flag belongs to a command", () => {
  const used = new Set([...commandNames.flatMap((name) => commandRow(name).flags), ...globalFlags]);
  expect(flagNames.filter((flag) => !used.has(flag))).toEqual([]);
});

function generated(what: string): string {
  if (what === "shared options") return optionBlock(flagNames.filter(isShared).map((flag) => flagHelp("", flag)));
  if (what === "global options") return optionBlock(globalFlags.map((flag) => flagHelp("", flag)));
  if (what === "options for programs") {
    return optionBlock(flagNames.filter((flag) => !isShown(flag)).map((flag) => flagHelp("", flag)));
  }
  const [kind, ...names] = what.split(" ");
  if (kind !== "commands") throw new Error(`unknown part of the page: ${what}`);
  return names.map((typed) => section(nameIn(typed))).join("\n\n");
}

/** `cody` stands for the command without a name. */
function nameIn(typed: string): CommandName {
  const name = typed === "cody" ? "" : typed;
  if (!isCommandName(name)) throw new Error(`unknown command: ${typed}`);
  return name;
}

function section(name: CommandName): string {
  const { usage, description, examples, flags } = commandRow(name);
  const own = flags.filter((flag) => isShown(flag) && !isSharedIn(name, flag));
  const shared = flags.filter((flag) => isShown(flag) && isSharedIn(name, flag));
  const [, ...args] = usage.split(" ");
  const rows = [...own, ...globalFlags.filter((flag) => commandRow(name).describe?.[flag] !== undefined)];
  return [
    `### ${titleOf(name)}`,
    `${description.replaceAll("<", "\\<")}.`,
    ...(args.length === 0 ? [] : [`Arguments: \`${args.join(" ")}\``]),
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
    ...(rows.length === 0 ? [] : [optionBlock(rows.map((flag) => flagHelp(name, flag)))]),
    ...(shared.length === 0 ? [] : [`[Shared](#options): ${shared.map((flag) => `\`--${nameOf(flag)}\``).join(", ")}`]),
  ].join("\n\n");
}

/** The name in a group, unless the command is one of every day, and its own. */
function titleOf(name: CommandName): string {
  if (name === "") return "`cody`";
  const group = commandGroups.find(({ commands }) => Object.values(commands).includes(name));
  const member = Object.entries(group?.commands ?? {}).find(([, command]) => command === name)?.[0];
  if (group === undefined || member === undefined || everydayCommands.includes(name)) return `\`cody ${name}\``;
  return `\`cody ${group.name} ${member}\`, \`cody ${name}\``;
}

function optionBlock(rows: readonly HelpRow[]): string {
  return `\`\`\`text\n${helpTable(rows, undefined).join("\n")}\n\`\`\``;
}

function nameOf(flag: FlagName): string {
  return /--([a-z-]+)/.exec(flagHelp("", flag)[0])?.[1] ?? flag;
}

function isShown(flag: FlagName): boolean {
  return flagRow(flag).isHidden !== true;
}

function isSharedIn(name: CommandName, flag: FlagName): boolean {
  return isShared(flag) && flagHelp(name, flag)[1] === flagRow(flag).description;
}

function isShared(flag: FlagName): boolean {
  const commands = commandNames.filter((name) => commandRow(name).flags.includes(flag));
  const same = commands.filter((name) => flagHelp(name, flag)[1] === flagRow(flag).description);
  return isShown(flag) && same.length >= sharedBy;
}
