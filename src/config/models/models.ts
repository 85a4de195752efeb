import type { ModelEntry } from "../../messages/config.js";
import type { KnownFacts } from "../../messages/model.js";
import type { TokenUsage } from "../../messages/token-usage.js";
import { type ModelFacts, type ModelPrice, modelTable, type NamedModel } from "./model-table.js";
import { assumedWindows, contextWindow, familyWindow, plainName } from "./model-windows.js";

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

/** Resolves any model name; an unknown one gets assumed facts. */
export function resolveModel(name: string, entries: ModelEntries = {}): ResolvedModel {
  const exact = findNamedModel(name, entries);
  if (exact !== undefined) return { ...resolvedFacts(exact), id: name, foundBy: "name" };
  const called = findByAlias(name, entries);
  if (called !== undefined) return { ...resolvedFacts(called), id: called.id, foundBy: "alias" };
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
  const isCalledSo = (id: string): boolean =>
    tableById.get(id)?.aliases.includes(alias) === true || entries[id]?.aliases?.includes(alias) === true;
  const id = Object.keys(entries).find((added) => !tableById.has(added) && isCalledSo(added));
  const found = id ?? modelTable.find((model) => isCalledSo(model.id))?.id;
  return found === undefined ? undefined : findNamedModel(found, entries);
}

/** The price of a model at its own provider, with or without a vendor prefix; undefined if unknown. */
export function priceOf(name: string, entries: ModelEntries = {}): ModelPrice | undefined {
  return resolveModel(name, entries).price ?? resolveModel(plainName(name), entries).price;
}

/** The facts of a model known by name, with or without a vendor prefix; undefined where they would be a guess. */
export function factsOf(name: string, entries: ModelEntries = {}): KnownFacts | undefined {
  const known = [name, plainName(name)]
    .map((candidate) => findNamedModel(candidate, entries) ?? findByAlias(candidate, entries))
    .find((model) => model !== undefined);
  if (known === undefined) return undefined;
  const { abilities, maxOutput } = known;
  return { reasons: abilities.includes("reasoning"), ...(maxOutput === undefined ? {} : { maxOutput }) };
}

const perMillion = 1_000_000;

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
