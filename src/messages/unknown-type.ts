import * as z from "zod";

/**
 * Represents every `type` we do not know. TypeScript cannot express "any string but these", so this is a word that no
 * writer uses. With it, a switch over `type` narrows as if the unknown variant had its own name.
 */
type UnknownType = "(unknown)";

/** An object of a type that is not in `known`. It is kept verbatim and skipped. */
export function unknownVariant(known: readonly string[]) {
  const names = new Set(known);
  const type = z.custom<UnknownType>((value) => typeof value === "string" && !names.has(value));
  return z.object({ type });
}

/** The `type` values of the variants of a discriminated union. */
export function typesOf(variants: readonly { shape: { type: z.ZodLiteral<string> } }[]): string[] {
  return variants.flatMap((variant) => [...variant.shape.type.values]);
}
