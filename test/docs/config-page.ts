import { readFile } from "node:fs/promises";
import { format } from "prettier";
import { personalSettings } from "../../src/config/project/project-config.js";
import { type SettingRow, settingRows } from "../../src/messages/settings/settings-table.js";

/** The text of docs/config.md: the template next to this file, with the settings table in its placeholders. */
export async function configPage(): Promise<string> {
  const template = await readFile(new URL("config-template.md", import.meta.url), "utf8");
  const text = template
    .replace("<!-- user settings -->", personalSettings.map((key) => `\`${key}\``).join(", "))
    .replaceAll(/<!-- settings: (\w+) -->/g, (_, section: string) => tableOf(section));
  return await format(text, { parser: "markdown", printWidth: 120 });
}

function tableOf(section: string): string {
  const rows = settingRows.filter((row) => row.section === section);
  if (section === "tables") {
    const lines = rows.map(({ key, description }) => `| \`${key}\` | ${description} |`);
    return ["| key | meaning |", "| --- | --- |", ...lines].join("\n");
  }
  const lines = rows.map((row) => `| \`${row.key}\` | ${defaultOf(row)} | ${meaningOf(row)} |`);
  return ["| key | default | meaning |", "| --- | --- | --- |", ...lines].join("\n");
}

function defaultOf({ default: value, defaultText }: SettingRow): string {
  if (defaultText !== undefined || value === undefined) return defaultText ?? "";
  return typeof value === "number" ? value.toLocaleString("en-US") : `\`${String(value)}\``;
}

function meaningOf({ description, otherName }: SettingRow): string {
  return otherName === undefined ? description : `${description} (also called \`${otherName}\`)`;
}
