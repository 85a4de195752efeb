import * as z from "zod";
import { type ConfigShape, settingRows } from "./settings-table.js";
import { schemas } from "./setting-values.js";

export {
  ApiKey,
  AuthMethod,
  BaseUrl,
  Layout,
  LoginEntry,
  ModelEntry,
  ProviderEntry,
  ProviderName,
  RequestLimits,
  SensitivePattern,
  WireApi,
} from "./setting-values.js";

/** The configuration. Every setting is optional: an absent one has a default or is detected. */
export const Config = z.strictObject(configShape());
export type Config = z.infer<typeof Config>;

/** Limits at which a turn is stopped although the model would continue. */
export const TurnLimits = Config.shape.turnLimits.unwrap();
export type TurnLimits = z.infer<typeof TurnLimits>;

/** When and how histories are compacted. */
export const CompactionConfig = Config.shape.compaction.unwrap();
export type CompactionConfig = z.infer<typeof CompactionConfig>;

/** Whether knowledge about a project is saved and added to system prompts, and how many tokens it may take there. */
export const KnowledgeConfig = Config.shape.knowledge.unwrap();
export type KnowledgeConfig = z.infer<typeof KnowledgeConfig>;

/** Builds the shape from the settings table: `turnLimits.steps` becomes a field of the object `turnLimits`. */
function configShape(): ConfigShape {
  const groups = new Map<string, Record<string, z.ZodType>>();
  for (const { key, schema } of settingRows) {
    const [group = key, name = ""] = key.split(".");
    groups.set(group, { ...groups.get(group), [name]: schema(schemas).optional() });
  }
  // A setting outside a group is stored under an empty name.
  const shape = [...groups].map(([group, fields]) => [group, fields[""] ?? z.strictObject(fields).optional()]);
  return Object.fromEntries(shape) as ConfigShape;
}
