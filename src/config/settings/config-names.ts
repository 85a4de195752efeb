/** The possible file names of a configuration. */
export const configNames = ["config.json", "config.jsonc", "config.yaml", "config.yml"] as const;
export type ConfigName = (typeof configNames)[number];

/** Whether a configuration may set the location of conversations. Only then does a list need to parse it. */
export function maySayWhere(text: string): boolean {
  return text.includes("directory") || text.includes("layout");
}

/** Whether the environment sets the location of conversations. */
export function saysWhere(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env["CODY_PERSISTENCE_DIRECTORY"] ?? env["CODY_PERSISTENCE_LAYOUT"]);
}
