import { expect, test } from "vitest";
import { conversationName } from "../../../src/base/text/conversation-name.js";

test.each(["a", "Fix the build", "  Größe: 3 µm  ", "👨‍👩‍👧 family", "😀".repeat(100)])(
  "%j is accepted as a name and trimmed",
  (text) => {
    expect(conversationName(text)).toBe(text.trim());
  },
);

test.each(["", "  ", "😀".repeat(101), "a\nb", "a\u0000", "a\u001b[31m", "\u202egnp", "\ud800", "a\u2028b"])(
  "%j is rejected as a name",
  (text) => expect(() => conversationName(text)).toThrow("a name must have 1 to 100 printable characters"),
);
