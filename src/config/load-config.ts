import type { CompactionConfig } from "../messages/compaction.js";
import type { Config, KnowledgeConfig, Layout, TurnLimits } from "../messages/config.js";
import { defaultName, isReadableByOthers, parseConfig, readConfigFile } from "./config-file.js";
import type { ConfigName } from "./config-names.js";
import { mcpSecrets } from "./mcp-secrets.js";
import { conversationPlaces } from "./places.js";
import { choiceOf } from "./provider-choice.js";
import { configuredKeys } from "./vendors.js";

/** What comes from the environment is known when the provider is: until then it counts as default. */
export type ConfigSource = "default" | "environment" | ConfigName | "flag";
/** What holds settings and is none itself. */
type Nested = "persistence" | "turnLimits" | "compaction" | "knowledge" | "history" | "export" | "redaction";
export type ConfigKey =
  | Exclude<keyof Config, Nested | "providers" | "models" | "limits" | "logins" | "mcp_servers">
  | `turnLimits.${keyof TurnLimits}`
  | `compaction.${keyof CompactionConfig}`
  | `knowledge.${keyof KnowledgeConfig}`
  | `redaction.${keyof NonNullable<Config["redaction"]>}`
  | `history.${keyof NonNullable<Config["history"]>}`
  | `export.${keyof NonNullable<Config["export"]>}`
  | `persistence.${keyof NonNullable<Config["persistence"]>}`;

/** Settings of one run; what is undefined counts as not said. */
export type ConfigFlags = { readonly [K in keyof Config]?: Config[K] | undefined };

/** What holds for this run, and for each setting who said it. What nobody said and has no fixed default is absent. */
export interface LoadedConfig {
  readonly values: Omit<Config, "persistence"> & {
    readonly persistence: {
      readonly enabled: boolean;
      readonly layout: Layout;
      readonly directory: string;
      readonly retentionDays?: number | false;
      readonly maxConversationsPerProject?: number | false;
      readonly maxFileMegabytes?: number;
      readonly maxBlobMegabytes?: number;
    };
  };
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>;
  /** The name of the configuration that was read, or would be written. */
  readonly file: ConfigName;
  /** Its path, when keys are in it and not only its owner can read it. */
  readonly exposed?: string;
}

export interface ConfigInput {
  readonly home: string;
  /** Where Codex keeps its files, for the layout that has them there. */
  readonly codexHome?: string | undefined;
  /** Where keys may be, which say whose an address is that is configured without a provider. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly flags: ConfigFlags;
}

/** Flags win over the file, which wins over the defaults; relative directories lie in the home. */
export async function loadConfig({ home, codexHome, env, flags }: ConfigInput): Promise<LoadedConfig> {
  const found = await readConfigFile(home);
  const name = found?.name ?? defaultName;
  const { provider, api, model, baseUrl, ...others }: Config = found === undefined ? {} : await parseConfig(found);
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Config;
  const said = { provider, api, model, baseUrl };
  const choice = choiceOf([said, given], { env, providers: others.providers, auth: others.auth }, others.models);
  const kept = Object.entries(said).filter(([key, value]) => value === choice[key as keyof typeof choice]);
  const file: Config = { ...others, ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)) };
  const persistence = { ...file.persistence, ...given.persistence };
  const { layout, directory } = conversationPlaces({ home, codexHome, persistence });
  const turnLimits = { ...file.turnLimits, ...given.turnLimits };
  const compaction = { ...file.compaction, ...given.compaction };
  const sourceOf = (read: (config: Config) => unknown): ConfigSource => {
    if (read(given) !== undefined) return "flag";
    return read(file) === undefined ? "default" : name;
  };
  const isExposed =
    found !== undefined &&
    [...configuredKeys(file.providers), ...mcpSecrets(file.mcp_servers)].length > 0 &&
    (await isReadableByOthers(found.path));
  return {
    file: name,
    ...(isExposed ? { exposed: found.path } : {}),
    values: {
      ...file,
      ...given,
      ...choice,
      ...(Object.keys(turnLimits).length > 0 ? { turnLimits } : {}),
      ...(Object.keys(compaction).length > 0 ? { compaction } : {}),
      persistence: { enabled: persistence.enabled ?? true, layout, directory, ...limitsOf(persistence) },
    },
    sources: {
      provider: sourceOf((config) => config.provider),
      api: sourceOf((config) => config.api),
      model: sourceOf((config) => config.model),
      baseUrl: sourceOf((config) => config.baseUrl),
      auth: sourceOf((config) => config.auth),
      approvalPolicy: sourceOf((config) => config.approvalPolicy),
      sandbox: sourceOf((config) => config.sandbox),
      "turnLimits.steps": sourceOf((config) => config.turnLimits?.steps),
      "turnLimits.seconds": sourceOf((config) => config.turnLimits?.seconds),
      "turnLimits.tokens": sourceOf((config) => config.turnLimits?.tokens),
      "turnLimits.approvalSeconds": sourceOf((config) => config.turnLimits?.approvalSeconds),
      "compaction.enabled": sourceOf((config) => config.compaction?.enabled),
      "compaction.strategy": sourceOf((config) => config.compaction?.strategy),
      "compaction.mode": sourceOf((config) => config.compaction?.mode),
      "compaction.ratio": sourceOf((config) => config.compaction?.ratio),
      "compaction.tokenLimit": sourceOf((config) => config.compaction?.tokenLimit),
      "compaction.reserveTokens": sourceOf((config) => config.compaction?.reserveTokens),
      "compaction.keepRecentTokens": sourceOf((config) => config.compaction?.keepRecentTokens),
      "compaction.keepTurns": sourceOf((config) => config.compaction?.keepTurns),
      "compaction.userMessageTokens": sourceOf((config) => config.compaction?.userMessageTokens),
      "compaction.preserveToolResults": sourceOf((config) => config.compaction?.preserveToolResults),
      "compaction.onFailure": sourceOf((config) => config.compaction?.onFailure),
      "compaction.prompt": sourceOf((config) => config.compaction?.prompt),
      contextWindow: sourceOf((config) => config.contextWindow),
      systemPrompt: sourceOf((config) => config.systemPrompt),
      instructions: sourceOf((config) => config.instructions),
      "knowledge.enabled": sourceOf((config) => config.knowledge?.enabled),
      "knowledge.injectionBudget": sourceOf((config) => config.knowledge?.injectionBudget),
      toolEnv: sourceOf((config) => config.toolEnv),
      "redaction.sensitivePatterns": sourceOf((config) => config.redaction?.sensitivePatterns),
      "redaction.shapes": sourceOf((config) => config.redaction?.shapes),
      "history.maxSize": sourceOf((config) => config.history?.maxSize),
      "export.directory": sourceOf((config) => config.export?.directory),
      "persistence.enabled": sourceOf((config) => config.persistence?.enabled),
      "persistence.layout": sourceOf((config) => config.persistence?.layout),
      "persistence.directory": sourceOf((config) => config.persistence?.directory),
      "persistence.retentionDays": sourceOf((config) => config.persistence?.retentionDays),
      "persistence.maxConversationsPerProject": sourceOf((config) => config.persistence?.maxConversationsPerProject),
      "persistence.maxFileMegabytes": sourceOf((config) => config.persistence?.maxFileMegabytes),
      "persistence.maxBlobMegabytes": sourceOf((config) => config.persistence?.maxBlobMegabytes),
    },
  };
}

const limitKeys = ["retentionDays", "maxConversationsPerProject", "maxFileMegabytes", "maxBlobMegabytes"] as const;
type Limits = Pick<LoadedConfig["values"]["persistence"], (typeof limitKeys)[number]>;

/** Of the limits those that are said. */
function limitsOf(persistence: NonNullable<Config["persistence"]>): Limits {
  return Object.fromEntries(
    limitKeys.flatMap((key) => (persistence[key] === undefined ? [] : [[key, persistence[key]]])),
  );
}
