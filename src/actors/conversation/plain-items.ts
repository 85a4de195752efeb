import type { ResponseItem } from "../../messages/response-item.js";

type Plain<T> = T extends { type: "input_text" | "output_text"; text: string } ? { type: "text"; text: string } : T;

/** A history item whose text parts have the type `text`. */
export type PlainItem = ResponseItem extends infer I
  ? I extends { type: "message"; content: (infer P)[] }
    ? Omit<I, "content"> & { content: Plain<P>[] }
    : I
  : never;

export function plainItems(items: readonly ResponseItem[]): PlainItem[] {
  return items.map((item) =>
    item.type === "message"
      ? { ...item, content: item.content.map((part) => ("text" in part ? { type: "text", text: part.text } : part)) }
      : item,
  );
}
