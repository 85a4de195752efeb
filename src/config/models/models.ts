import type { ModelEntry } from "../../messages/settings/config.js";
import type { KnownFacts } from "../../messages/model.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { type ModelFacts, type ModelPrice, modelTable, type NamedModel } from "./model-table.js";

/** The window assumed for an unknown model: nearly every current model has at least this. */
const assumedWindow = 128_000;

/** The windows assumed, by provider, for models of which only the name is known. */
const assumedWindows = { anthropic: 200_000, openai: 128_000 } as const;

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

const perMillion = 1_000_000;

/** The configured models, by name. */
export type ModelEntries = Readonly<Record<string, ModelEntry>>;

export interface ResolvedModel extends ModelFacts {
  /** An assumed value if unknown. */
  readonly contextWindow: number;
  /** An assumed value if unknown. */
  readonly maxOutput: number;
  /** The model's name at its provider. */
  readonly id: string;
  /** How the name was matched: exactly, by an alias, by its prefix, or not at all. */
  readonly foundBy: "name" | "alias" | "prefix" | "default";
}

type Guess = Omit<ResolvedModel, "id" | "foundBy">;

const { anthropic, openai } = assumedWindows;
const assumedMaxOutput = 16_384;
/** Assumed facts of a model whose provider is known only from the prefix of its name. */
const guesses: readonly (readonly [RegExp, Guess])[] = [
  [/^claude-/, { provider: "anthropic", contextWindow: anthropic, maxOutput: assumedMaxOutput, abilities: ["images"] }],
  [/^(?:gpt-|o\d)/, { provider: "openai", contextWindow: openai, maxOutput: assumedMaxOutput, abilities: ["images"] }],
];
const unknownModel: Guess = {
  provider: "anthropic",
  contextWindow: anthropic,
  maxOutput: assumedMaxOutput,
  abilities: [],
};

const tableById: ReadonlyMap<string, NamedModel> = new Map(modelTable.map((model) => [model.id, model]));
/** Each turn looks its model up several times. */
const tableByAlias: ReadonlyMap<string, NamedModel> = new Map(
  modelTable.flatMap((model) => model.aliases.map((alias) => [alias, model] as const)),
);

/** Resolves any model name; an unknown one gets assumed facts. */
export function resolveModel(name: string, entries: ModelEntries = {}): ResolvedModel {
  const exact = findNamedModel(name, entries);
  if (exact !== undefined) return { ...resolvedFacts(exact), id: name, foundBy: "name" };
  const byAlias = findByAlias(name, entries);
  if (byAlias !== undefined) return { ...resolvedFacts(byAlias), id: byAlias.id, foundBy: "alias" };
  const guess = guesses.find(([beginning]) => beginning.test(name))?.[1];
  if (guess === undefined) return { ...unknownModel, id: name, foundBy: "default" };
  return { ...guess, contextWindow: familyWindow(name) ?? guess.contextWindow, id: name, foundBy: "prefix" };
}

/** Every model known by name; configured facts win over the table. */
export function knownModels(entries: ModelEntries = {}): NamedModel[] {
  const added = Object.keys(entries).filter((id) => !tableById.has(id));
  return [...added, ...tableById.keys()].flatMap((id) => findNamedModel(id, entries) ?? []);
}

function findNamedModel(id: string, entries: ModelEntries): NamedModel | undefined {
  const entry = Object.hasOwn(entries, id) ? entries[id] : undefined;
  const model = tableById.get(id);
  if (model !== undefined) return withEntry(model, entry);
  return entry && withEntry({ ...resolveModel(id), price: undefined, id, aliases: [] }, entry);
}

/** Does not use `knownModels`, because every turn would build that list several times. */
function findByAlias(alias: string, entries: ModelEntries): NamedModel | undefined {
  if (Object.keys(entries).length === 0) return tableByAlias.get(alias);
  const isCalledSo = (id: string): boolean =>
    tableById.get(id)?.aliases.includes(alias) === true || entries[id]?.aliases?.includes(alias) === true;
  const id = Object.keys(entries).find((added) => !tableById.has(added) && isCalledSo(added));
  const found = id ?? modelTable.find((model) => isCalledSo(model.id))?.id;
  return found === undefined ? undefined : findNamedModel(found, entries);
}

/** The price of a model at its own provider, with or without a vendor prefix; undefined if unknown. */
export function priceOf(name: string, entries: ModelEntries = {}): ModelPrice | undefined {
  return findKnown(name, entries)?.price ?? findKnown(plainName(name), entries)?.price;
}

/** The facts of a model known by name, with or without a vendor prefix; undefined where they would be a guess. */
export function factsOf(name: string, entries: ModelEntries = {}): KnownFacts | undefined {
  const known = findKnown(name, entries) ?? findKnown(plainName(name), entries);
  if (known === undefined) return undefined;
  const { abilities, maxOutput } = known;
  return { reasons: abilities.includes("reasoning"), ...(maxOutput === undefined ? {} : { maxOutput }) };
}

function findKnown(name: string, entries: ModelEntries): NamedModel | undefined {
  return findNamedModel(name, entries) ?? findByAlias(name, entries);
}

/** The cost of this usage in US dollars. */
export function costOf({ input_tokens, cached_input_tokens, output_tokens }: TokenUsage, price: ModelPrice): number {
  const { input, output, cachedInput = input } = price;
  const fresh = Math.max(0, input_tokens - cached_input_tokens);
  return (fresh * input + cached_input_tokens * cachedInput + output_tokens * output) / perMillion;
}

function withEntry(model: NamedModel, entry: ModelEntry | undefined): NamedModel {
  return {
    id: model.id,
    provider: entry?.provider ?? model.provider,
    contextWindow: entry?.contextWindow ?? model.contextWindow,
    maxOutput: entry?.maxOutput ?? model.maxOutput,
    price: entry?.price ?? model.price,
    abilities: entry?.abilities ?? model.abilities,
    aliases: [...model.aliases, ...(entry?.aliases ?? [])],
  };
}

function resolvedFacts({ id, provider, contextWindow: window, maxOutput, price, abilities }: NamedModel): Guess {
  return {
    provider,
    contextWindow: window ?? contextWindow(id).tokens,
    maxOutput: maxOutput ?? assumedMaxOutput,
    price,
    abilities,
  };
}

/** The number of tokens a model accepts, prompt and answer together. */
export interface ContextWindow {
  readonly tokens: number;
  /** True for an unknown model without a configured window. */
  readonly isAssumed: boolean;
}

/** The window of a model; `configured` is the window from the configuration, which wins over the built-in tables. */
export function contextWindow(model: string, configured?: number): ContextWindow {
  const named = modelNamed(model) ?? modelNamed(plainName(model));
  // A newer model may have a smaller window than its family, so a named model without a window does not fall back to
  // the family.
  const tokens = configured ?? (named === undefined ? familyWindow(model) : named.contextWindow);
  if (tokens !== undefined) return { tokens, isAssumed: false };
  return { tokens: named?.provider === "anthropic" ? assumedWindows.anthropic : assumedWindow, isAssumed: true };
}

function modelNamed(model: string): NamedModel | undefined {
  return tableById.get(model) ?? tableByAlias.get(model);
}

/** The window of the model family with the same name prefix. */
function familyWindow(model: string): number | undefined {
  const name = plainName(model);
  return families.find(([beginning]) => isOfFamily(name, beginning))?.[1];
}

/** Strips the vendor prefix (`openai/gpt-4o`) and the prefix of fine-tuned models (`ft:gpt-4o:…`). */
function plainName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/^ft:/, "");
}

/** `o1-pro` is an o1, `o11` is not. */
function isOfFamily(name: string, beginning: string): boolean {
  return name.startsWith(beginning) && !/^[a-z0-9]/.test(name.slice(beginning.length));
}
