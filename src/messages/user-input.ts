import * as z from "zod";
import type { ContentPart } from "./response-item.js";

/** The most characters one text of a submission may have. */
export const maxInputChars = 10_000_000;

export const UserInput = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("text"),
    text: z.string().max(maxInputChars, `a text may have at most ${maxInputChars} characters`),
    text_elements: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal("image"), image_url: z.string() }),
  z.strictObject({ type: z.literal("local_image"), path: z.string() }),
]);
export type UserInput = z.infer<typeof UserInput>;

/** Input that can stand in history: a local image is read into an `image` where it enters. */
export type InlineInput = Exclude<UserInput, { type: "local_image" }>;

/** What the user said, as the content of a history item. */
export function inputContent(items: readonly InlineInput[]): ContentPart[] {
  return items.map((item) =>
    item.type === "text" ? { type: "input_text", text: item.text } : { type: "input_image", image_url: item.image_url },
  );
}

export function inputText(items: readonly UserInput[]): string {
  return items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
}
