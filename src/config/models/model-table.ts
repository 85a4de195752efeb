/** Known facts about the model. */
export interface ModelFacts {
  readonly provider: string;
  /** The number of tokens of prompt and answer together. Undefined if unknown. */
  readonly contextWindow?: number | undefined;
  /** The maximum number of tokens in an answer. Undefined if unknown. */
  readonly maxOutput?: number | undefined;
  /** Undefined if unknown. */
  readonly price?: ModelPrice | undefined;
  /** Capabilities beyond text and tools. */
  readonly abilities: readonly Ability[];
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** The price of input tokens that the provider has cached; the same as `input` if absent. */
  readonly cachedInput?: number | undefined;
}

export type Ability = "reasoning" | "images";

export interface NamedModel extends ModelFacts {
  readonly id: string;
  readonly aliases: readonly string[];
}

type Row = readonly [
  id: string,
  provider: string,
  contextWindow: number,
  maxOutput: number,
  input: number,
  output: number,
  cachedInput: number,
  abilities: readonly Ability[],
  aliases: readonly string[],
];

const reasoning: readonly Ability[] = ["reasoning"];
const images: readonly Ability[] = ["images"];
const both: readonly Ability[] = ["reasoning", "images"];

const rows: readonly Row[] = [
  [
    "claude-sonnet-4-20250514",
    "anthropic",
    200_000,
    16_384,
    3,
    15,
    0.3,
    both,
    ["claude-sonnet", "sonnet", "claude-sonnet-4-0"],
  ],
  [
    "claude-3-5-haiku-20241022",
    "anthropic",
    200_000,
    8_192,
    0.8,
    4,
    0.08,
    images,
    ["claude-haiku", "haiku", "claude-haiku-3-5-20241022", "claude-3-5-haiku-latest"],
  ],
  ["claude-opus-4-20250514", "anthropic", 200_000, 32_000, 15, 75, 1.5, both, ["claude-opus-4-0"]],
  ["claude-opus-4-1-20250805", "anthropic", 200_000, 32_000, 15, 75, 1.5, both, ["claude-opus-4-1"]],
  ["claude-sonnet-4-5-20250929", "anthropic", 200_000, 64_000, 3, 15, 0.3, both, ["claude-sonnet-4-5"]],
  ["claude-haiku-4-5-20251001", "anthropic", 200_000, 64_000, 1, 5, 0.1, both, ["claude-haiku-4-5"]],
  ["claude-opus-4-5-20251101", "anthropic", 200_000, 64_000, 5, 25, 0.5, both, ["claude-opus-4-5"]],
  ["claude-sonnet-4-6", "anthropic", 1_000_000, 64_000, 3, 15, 0.3, both, []],
  ["claude-opus-4-6", "anthropic", 1_000_000, 128_000, 5, 25, 0.5, both, []],
  ["claude-opus-4-7", "anthropic", 1_000_000, 128_000, 5, 25, 0.5, both, []],
  ["gpt-4o", "openai", 128_000, 16_384, 2.5, 10, 1.25, images, ["4o"]],
  ["gpt-4o-mini", "openai", 128_000, 16_384, 0.15, 0.6, 0.075, images, ["4o-mini"]],
  ["o3", "openai", 200_000, 100_000, 10, 40, 2.5, both, []],
  ["o3-mini", "openai", 200_000, 100_000, 1.1, 4.4, 0.55, reasoning, []],
  ["o4-mini", "openai", 200_000, 100_000, 1.1, 4.4, 0.275, both, []],
  ["o1", "openai", 200_000, 100_000, 15, 60, 7.5, both, []],
  ["gpt-4.1", "openai", 1_047_576, 32_768, 2, 8, 0.5, images, []],
  ["gpt-4.1-mini", "openai", 1_047_576, 32_768, 0.4, 1.6, 0.1, images, []],
  ["gpt-4.1-nano", "openai", 1_047_576, 32_768, 0.1, 0.4, 0.025, images, []],
  ["gpt-5", "openai", 400_000, 128_000, 1.25, 10, 0.125, both, []],
  ["gpt-5-mini", "openai", 400_000, 128_000, 0.25, 2, 0.025, both, []],
  ["gpt-5-nano", "openai", 400_000, 128_000, 0.05, 0.4, 0.005, both, []],
  ["gpt-5-codex", "openai", 400_000, 128_000, 1.25, 10, 0.125, both, []],
  ["gpt-5.1", "openai", 400_000, 128_000, 1.25, 10, 0.125, both, []],
  ["gpt-5.1-codex", "openai", 400_000, 128_000, 1.25, 10, 0.125, both, []],
  ["gpt-5.1-codex-mini", "openai", 400_000, 128_000, 0.25, 2, 0.025, both, []],
  ["gpt-5.2", "openai", 400_000, 128_000, 1.75, 14, 0.175, both, []],
  ["gpt-5.2-codex", "openai", 400_000, 128_000, 1.75, 14, 0.175, both, []],
  ["gpt-5.3-codex", "openai", 400_000, 128_000, 1.75, 14, 0.175, both, []],
  ["gpt-5.4", "openai", 272_000, 128_000, 2.5, 15, 0.25, both, ["gpt-latest"]],
  ["gpt-5.4-mini", "openai", 400_000, 128_000, 0.75, 4.5, 0.075, both, ["gpt-mini-latest"]],
  ["gpt-5.5", "openai", 272_000, 128_000, 5, 30, 0.5, both, []],
];

/**
 * Models that the vendors' SDKs list without published figures: a missing number is better than a wrong one. `sonnet`
 * and `haiku` are names of older models, so the newest ones are `sonnet-latest` and `haiku-latest`.
 */
const namesOnly: readonly (readonly [id: string, provider: string, aliases: readonly string[]])[] = [
  ["claude-sonnet-5-5", "anthropic", ["claude-sonnet-latest", "sonnet-latest"]],
  ["claude-haiku-5-5", "anthropic", ["claude-haiku-latest", "haiku-latest"]],
  ["claude-opus-5-5", "anthropic", ["claude-opus", "opus", "claude-opus-latest", "opus-latest"]],
  ["claude-fable-5-2", "anthropic", ["claude-fable", "fable"]],
  ["claude-mythos-5-2", "anthropic", ["claude-mythos", "mythos"]],
  ["claude-fable-5-1", "anthropic", []],
  ["claude-mythos-5-1", "anthropic", []],
  ["claude-sonnet-5", "anthropic", []],
  ["claude-fable-5", "anthropic", []],
  ["claude-mythos-5", "anthropic", []],
  ["claude-opus-5", "anthropic", []],
  ["claude-opus-4-8", "anthropic", []],
  ["claude-mythos-preview", "anthropic", []],
  ["gpt-5.6-sol", "openai", ["sol"]],
  ["gpt-5.6-terra", "openai", ["terra"]],
  ["gpt-5.6-luna", "openai", ["luna"]],
  ["gpt-5.4-nano", "openai", ["gpt-nano-latest"]],
  ["gpt-5.2-pro", "openai", []],
  ["gpt-5.1-codex-max", "openai", []],
  ["gpt-5-pro", "openai", []],
];

/** The built-in models. Users add others under `models` in the configuration. */
export const modelTable: readonly NamedModel[] = [
  ...rows.map(([id, provider, contextWindow, maxOutput, input, output, cachedInput, abilities, aliases]) => ({
    id,
    provider,
    contextWindow,
    maxOutput,
    price: { input, output, cachedInput },
    abilities,
    aliases,
  })),
  ...namesOnly.map(([id, provider, aliases]) => ({ id, provider, abilities: both, aliases })),
];
