import { join } from "node:path";
import { configNames } from "./settings/config-names.js";
import { type Homes, homePaths } from "./paths.js";

/**
 * The files and folders that hold tokens, keys and permissions: cody's own, and the logins it borrows from other
 * programs.
 */
export function privatePaths({ home, codexHome, claudeHome }: Homes): string[] {
  const { tokens, trust, logs, workspaces } = homePaths(home);
  return [
    tokens,
    ...configNames.map((name) => join(home, name)),
    trust,
    logs,
    workspaces,
    ...(codexHome === undefined ? [] : [join(codexHome, "auth.json")]),
    ...(claudeHome === undefined ? [] : [join(claudeHome, ".credentials.json")]),
  ];
}
