import { modelTable, type NamedModel } from "./model-table.js";

/** The number of tokens a model accepts, prompt and answer together. */
export interface ContextWindow {
  readonly tokens: number;
  /** True for an unknown model without a configured window. */
  readonly isAssumed: boolean;
}

/** The window assumed for an unknown model: nearly every current model has at least this. */
const assumedWindow = 128_000;

/** The windows assumed, by provider, for models of which only the name is known. */
export const assumedWindows = { anthropic: 200_000, openai: 128_000 } as const;

/** Windows by name prefix; longer prefixes come before shorter ones. */
const families: readonly (readonly [beginning: string, tokens: number])[] = [
  // The built-in offline model has no real limit, so this number is arbitrary.
  ["offline", 128_000],
  ["gpt-5-chat", 128_000],
  ["gpt-5", 400_000],
  ["gpt-4.1", 1_047_576],
  ["gpt-4.5", 128_000],
  ["gpt-4o", 128_000],
  ["chatgpt-4o", 128_000],
  ["gpt-4-turbo", 128_000],
  ["gpt-4-0125", 128_000],
  ["gpt-4-1106", 128_000],
  ["gpt-4-32k", 32_768],
  ["gpt-4", 8_192],
  ["gpt-3.5", 16_385],
  ["gpt-oss", 131_072],
  ["codex-mini", 200_000],
  ["o1-mini", 128_000],
  ["o1-preview", 128_000],
  ["o1", 200_000],
  ["o3", 200_000],
  ["o4", 200_000],
  ["claude-2.0", 100_000],
  ["claude-instant", 100_000],
  ["claude", 200_000],
  ["gemini-1.5-pro", 2_097_152],
  ["gemini-1.0", 32_760],
  ["gemini", 1_048_576],
];

/** The window of a model; `said` is the configured window, which wins over the built-in tables. */
export function contextWindow(model: string, said?: number): ContextWindow {
  const named = modelNamed(model) ?? modelNamed(plainName(model));
  // A newer model may have a smaller window than its family, so a named model without a window does not fall back to
  // the family.
  const tokens = said ?? (named === undefined ? familyWindow(model) : named.contextWindow);
  if (tokens !== undefined) return { tokens, isAssumed: false };
  return { tokens: named?.provider === "anthropic" ? assumedWindows.anthropic : assumedWindow, isAssumed: true };
}

function modelNamed(model: string): NamedModel | undefined {
  return modelTable.find(({ id, aliases }) => id === model || aliases.includes(model));
}

/** The window of the model family with the same name prefix. */
export function familyWindow(model: string): number | undefined {
  const name = plainName(model);
  return families.find(([beginning]) => isOfFamily(name, beginning))?.[1];
}

/** Strips the vendor prefix (`openai/gpt-4o`) and the prefix of fine-tuned models (`ft:gpt-4o:…`). */
export function plainName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/^ft:/, "");
}

/** `o1-pro` is an o1, `o11` is not. */
function isOfFamily(name: string, beginning: string): boolean {
  return name.startsWith(beginning) && !/^[a-z0-9]/.test(name.slice(beginning.length));
}
