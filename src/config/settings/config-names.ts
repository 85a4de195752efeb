/** The possible file names of a configuration. */
export const configNames = ["config.json", "config.jsonc", "config.yaml", "config.yml"] as const;
export type ConfigName = (typeof configNames)[number];

/** The environment variable of a setting: `CODY_COMPACTION_KEEP_TURNS` for `compaction.keepTurns`. */
export function variableOf(key: string): string {
  return `CODY_${key.replaceAll(/[.]|(?=[A-Z])/g, "_").toUpperCase()}`;
}

/** Whether a configuration may set the location of conversations. Only then does a list need to parse it. */
export function maySetPlaces(text: string): boolean {
  return text.includes("directory") || text.includes("layout");
}

/** Whether the environment sets the location of conversations. */
export function setsPlaces(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env[variableOf("persistence.directory")] ?? env[variableOf("persistence.layout")]);
}
