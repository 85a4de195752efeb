import { resolve } from "node:path";
import type { ConfigFlags } from "../../config/load-config.js";
import { Config } from "../../messages/config.js";
import { issueWords } from "../../base/issue-words.js";
import { usageError } from "../command-error.js";
import type { CommandContext } from "../context.js";

const flagOf = {
  provider: "--provider",
  api: "--api",
  model: "--model",
  baseUrl: "--base-url",
  approvalPolicy: "--approval-policy",
  sandbox: "--sandbox",
} as const;

/** The settings given as flags. Each is checked separately, so that an error names the flag as it was typed. */
export function configFlags({ flags, terminal }: CommandContext): ConfigFlags {
  const { provider, api, model, baseUrl, approvalPolicy, sandbox, layout, conversationDir } = flags;
  const said = definedOnly({ provider, api, model, baseUrl, approvalPolicy, sandbox });
  for (const [key, flag] of Object.entries(flagOf)) checkFlag(flag, key in said ? { [key]: said[key] } : {});
  checkFlag("--layout", layout === undefined ? {} : { persistence: { layout } });
  const persistence = definedOnly({
    enabled: flags.persistence ? undefined : false,
    layout,
    directory: conversationDir === undefined ? undefined : resolve(terminal.cwd, conversationDir),
  });
  return { ...said, ...(Object.keys(persistence).length > 0 ? { persistence } : {}) };
}

function checkFlag(flag: string, settings: unknown): void {
  const result = Config.safeParse(settings, { error: issueWords });
  if (!result.success) throw usageError(`${flag}: ${result.error.issues[0]?.message ?? "invalid"}`);
}

function definedOnly(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
