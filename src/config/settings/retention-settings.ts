import type { Config } from "../../messages/config.js";

/** How many conversations are kept, and for how long; undefined means no limit. */
export interface RetentionSettings {
  readonly retentionDays: number | undefined;
  readonly maxConversationsPerProject: number | undefined;
}

const defaults = { retentionDays: 30, maxConversationsPerProject: 100 };

/** Fills in the defaults; `false` becomes undefined. */
export function effectiveRetention(persistence: Config["persistence"]): RetentionSettings {
  const { retentionDays, maxConversationsPerProject } = { ...defaults, ...said(persistence) };
  return {
    retentionDays: retentionDays || undefined,
    maxConversationsPerProject: maxConversationsPerProject || undefined,
  };
}

function said(persistence: Config["persistence"] = {}): Partial<Record<keyof RetentionSettings, number | false>> {
  const { retentionDays, maxConversationsPerProject } = persistence;
  return {
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(maxConversationsPerProject === undefined ? {} : { maxConversationsPerProject }),
  };
}
