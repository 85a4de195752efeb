/** The files a configuration may be in. */
export const configNames = ["config.json", "config.jsonc", "config.yaml", "config.yml"] as const;
export type ConfigName = (typeof configNames)[number];

/** Whether a configuration may say where conversations are: only then it is worth parsing for a list. */
export function maySayWhere(text: string): boolean {
  return text.includes("directory") || text.includes("layout");
}

/** The same for the environment. */
export function saysWhere(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env["CODY_PERSISTENCE_DIRECTORY"] ?? env["CODY_PERSISTENCE_LAYOUT"]);
}
