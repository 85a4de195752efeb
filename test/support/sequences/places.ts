import type { WireApi } from "../../../src/messages/settings/config.js";

/** A model behind a wire API. Reasoning is encrypted for its model, so each API has more than one. */
export interface Place {
  readonly provider: "openai" | "anthropic";
  readonly api: WireApi;
  readonly model: string;
  readonly effort: "low" | "high";
}

export const places = [
  { provider: "openai", api: "responses", model: "gpt-5", effort: "low" },
  { provider: "openai", api: "responses", model: "gpt-5-mini", effort: "high" },
  { provider: "openai", api: "responses", model: "gpt-4o", effort: "low" },
  { provider: "openai", api: "chat", model: "o3", effort: "low" },
  { provider: "openai", api: "chat", model: "gpt-5.1", effort: "high" },
  { provider: "anthropic", api: "messages", model: "claude-sonnet-4-20250514", effort: "low" },
  { provider: "anthropic", api: "messages", model: "claude-opus-4-1-20250805", effort: "high" },
  { provider: "anthropic", api: "messages", model: "claude-opus-4-6", effort: "high" },
] as const satisfies readonly Place[];

/** One model of each API: every sequence ends with a turn over each. */
export const lastPlaces: readonly Place[] = [places[0], places[3], places[5]];
