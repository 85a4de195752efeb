import * as z from "zod";

/**
 * Stands for every `type` we do not know. TypeScript cannot say "any string but these", so the type is a word no
 * writer uses; with it a switch over `type` narrows as if the unknown variant had a name of its own.
 */
export type UnknownType = "(unknown)";

/** An object of a type that is not in `known`: kept verbatim and passed over. */
export function unknownVariant(known: readonly string[]) {
  const names = new Set(known);
  const type = z.custom<UnknownType>((value) => typeof value === "string" && !names.has(value));
  return z.object({ type });
}

/** The `type` values of the variants of a discriminated union. */
export function typesOf(variants: readonly { shape: { type: z.ZodLiteral<string> } }[]): string[] {
  return variants.flatMap((variant) => [...variant.shape.type.values]);
}
