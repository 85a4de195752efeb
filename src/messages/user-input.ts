import * as z from "zod";
import type { ContentPart } from "./response-item.js";

/** The maximum length of one text in a submission. */
export const maxInputChars = 10_000_000;

export const UserInput = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("text"),
    text: z.string().max(maxInputChars, `a text can have at most ${maxInputChars} characters`),
    text_elements: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal("image"), image_url: z.string() }),
  z.strictObject({ type: z.literal("local_image"), path: z.string() }),
]);
export type UserInput = z.infer<typeof UserInput>;

/** Input that can be stored in history. A `local_image` is read into an `image` on submission. */
export type InlineInput = Exclude<UserInput, { type: "local_image" }>;

/** Converts user input to the content of a history item. */
export function inputContent(items: readonly InlineInput[]): ContentPart[] {
  return items.map((item) =>
    item.type === "text" ? { type: "input_text", text: item.text } : { type: "input_image", image_url: item.image_url },
  );
}

export function inputText(items: readonly UserInput[]): string {
  return items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
}
