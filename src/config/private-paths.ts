import { join } from "node:path";
import { configNames } from "./settings/config-names.js";
import { claudeHome, codexHome, homePaths } from "./paths.js";

export interface PrivatePathsInput {
  readonly home: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly homedir: () => string;
}

/**
 * The files and folders that hold tokens, keys and permissions: cody's own, and the logins it borrows from other
 * programs.
 */
export function privatePaths({ home, ...user }: PrivatePathsInput): string[] {
  const { tokens, trust, logs, workspaces } = homePaths(home);
  const [codex, claude] = [codexHome(user), claudeHome(user)];
  return [
    tokens,
    ...configNames.map((name) => join(home, name)),
    trust,
    logs,
    workspaces,
    ...(codex === undefined ? [] : [join(codex, "auth.json")]),
    ...(claude === undefined ? [] : [join(claude, ".credentials.json")]),
  ];
}
