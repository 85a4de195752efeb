import type { ContentPart, MessageItem } from "../../messages/response-item.js";
import { type CustomItem, isCallOutput, type SentItem } from "./sent-item.js";

type Image = Extract<ContentPart, { type: "input_image" }>;

const moved: ContentPart = { type: "input_text", text: "[the image stands behind the outputs]" };

/** Where an output can hold no image, its images stand in a message of the user's behind the outputs they came with. */
export function imagesBehindOutputs(items: readonly (SentItem | CustomItem)[]): (SentItem | CustomItem)[] {
  const sent: (SentItem | CustomItem)[] = [];
  let images: Image[] = [];
  for (const item of items) {
    if (!isCallOutput(item)) endOutputs();
    const found = isCallOutput(item) && typeof item.output !== "string" ? item.output.filter(isImage) : [];
    images.push(...found);
    sent.push(found.length === 0 ? item : withoutImages(item));
  }
  endOutputs();
  return sent;

  function endOutputs(): void {
    if (images.length > 0) sent.push(imageMessage(images));
    images = [];
  }
}

function withoutImages<T extends SentItem | CustomItem>(item: T): T {
  if (!isCallOutput(item) || typeof item.output === "string") return item;
  return { ...item, output: item.output.map((part) => (isImage(part) ? moved : part)) };
}

function imageMessage(images: readonly Image[]): MessageItem {
  return { type: "message", role: "user", content: [...images] };
}

function isImage(part: ContentPart): part is Image {
  return part.type === "input_image";
}
