import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Key } from "../../src/cli/terminal/screen/key.js";
import { type Decoded, KeyDecoder, maxPasteChars } from "../../src/cli/terminal/screen/key-decoder.js";
import { typing } from "./support/keys.js";

type Modifier = "ctrl" | "alt" | "shift";

function key(name: string, ...modifiers: Modifier[]): Key {
  const has = (modifier: Modifier): boolean => modifiers.includes(modifier);
  return { type: "key", name, ctrl: has("ctrl"), alt: has("alt"), shift: has("shift") };
}

function decoded(...chunks: (string | Uint8Array)[]): Decoded[] {
  const decoder = new KeyDecoder();
  const found = chunks.flatMap((chunk) => decoder.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  return decoder.waitMs === undefined ? found : [...found, ...decoder.flush()];
}

const sequences: [string, Decoded][] = [
  ["a", key("a")],
  ["A", key("A")],
  ["ä", key("ä")],
  ["界", key("界")],
  ["👍", key("👍")],
  [" ", key(" ")],
  ["\r", key("enter")],
  ["\t", key("tab")],
  ["\n", key("j", "ctrl")],
  ["\u007f", key("backspace")],
  ["\u0008", key("h", "ctrl")],
  ["\u0000", key(" ", "ctrl")],
  ["\u0003", key("c", "ctrl")],
  ["\u001f", key("_", "ctrl")],
  ["\u001bb", key("b", "alt")],
  ["\u001bB", key("B", "alt")],
  ["\u001bü", key("ü", "alt")],
  ["\u001b\r", key("enter", "alt")],
  ["\u001b\u007f", key("backspace", "alt")],
  ["\u001b\u0002", key("b", "ctrl", "alt")],
  ["\u001b[A", key("up")],
  ["\u001bOA", key("up")],
  ["\u001b[1;5D", key("left", "ctrl")],
  ["\u001b[1;3C", key("right", "alt")],
  ["\u001b[1;2B", key("down", "shift")],
  ["\u001b\u001b[D", key("left", "alt")],
  ["\u001bO5C", key("right", "ctrl")],
  ["\u001b[a", key("up", "shift")],
  ["\u001bOd", key("left", "ctrl")],
  ["\u001b[H", key("home")],
  ["\u001bOH", key("home")],
  ["\u001b[1~", key("home")],
  ["\u001b[7~", key("home")],
  ["\u001b[F", key("end")],
  ["\u001b[4~", key("end")],
  ["\u001b[8~", key("end")],
  ["\u001b[5~", key("pageup")],
  ["\u001b[6;5~", key("pagedown", "ctrl")],
  ["\u001b[3~", key("delete")],
  ["\u001b[3$", key("delete", "shift")],
  ["\u001b[3^", key("delete", "ctrl")],
  ["\u001b[2~", key("insert")],
  ["\u001bOP", key("f1")],
  ["\u001b[11~", key("f1")],
  ["\u001b[[A", key("f1")],
  ["\u001b[1;2R", key("f3", "shift")],
  ["\u001b[15~", key("f5")],
  ["\u001b[24~", key("f12")],
  ["\u001b[Z", key("tab", "shift")],
  ["\u001bOp", key("0")],
  ["\u001b[13;2u", key("enter", "shift")],
  ["\u001b[27;2;13~", key("enter", "shift")],
  ["\u001b[27;5;106~", key("j", "ctrl")],
  ["\u001b[27u", key("escape")],
  ["\u001b[27;1:1u", key("escape")],
  ["\u001b[99;5u", key("c", "ctrl")],
  ["\u001b[97;6u", key("a", "ctrl", "shift")],
  ["\u001b[97;4u", key("A", "alt")],
  ["\u001b[97;3u", key("a", "alt")],
  ["\u001b[32;5u", key(" ", "ctrl")],
  ["\u001b[127;3u", key("backspace", "alt")],
  ["\u001b[57414u", key("enter")],
  ["\u001b[57399;129u", key("0")],
  ["\u001b[57417u", key("left")],
  ["\u001b[I", { type: "focus", isFocused: true }],
  ["\u001b[O", { type: "focus", isFocused: false }],
  ["\u001b[?1u", { type: "kitty_keys", flags: 1 }],
  ["\u001b[0n", { type: "drawn" }],
  ["\u001b[?62;22c", { type: "attributes" }],
  ["\u001b]11;rgb:1e1e/1e1e/2e2e\u001b\\", { type: "background", kind: "dark" }],
  ["\u001b]11;rgb:ff/fb/f0\u0007", { type: "background", kind: "light" }],
  ["\u001b]11;#ffffff\u0007", { type: "background", kind: "light" }],
  ["\u001b[200~two\r\nlines\rof text\u001b[201~", { type: "paste", text: "two\nlines\nof text" }],
  ["\u001b[200~\u001b[A\u0003\u001b[201\u001b[201~", { type: "paste", text: "\u001b[A\u0003\u001b[201" }],
  ["\u001b[200~\u001b[201~", { type: "paste", text: "" }],
];

describe("KeyDecoder", () => {
  it.each(sequences)("decodes %j", (bytes, expected) => {
    expect(decoded(bytes)).toEqual([expected]);
  });

  it.each([
    ["a release of a key", "\u001b[97;1:3u"],
    ["a key with Super", "\u001b[99;9u"],
    ["a cursor position", "\u001b[12;40R"],
    ["a mouse report", "\u001b[<0;3;4M"],
    ["an unknown sequence", "\u001b[12;34x"],
    ["a device string", "\u001bP1$r0m\u001b\\"],
    ["an unknown command", "\u001b]52;c;aGVsbG8=\u0007"],
    ["a code that is no character", "\u001b[99999999u"],
    ["an unfinished sequence", "\u001b[1;"],
  ])("ignores %s", (_what, bytes) => {
    expect(decoded(bytes)).toEqual([]);
  });

  it("decodes what follows a broken sequence", () => {
    expect(decoded("\u001b[1;\u001b[A\u001b]11;rgb\u001b[Bx")).toEqual([key("up"), key("down"), key("x")]);
  });

  it("takes a lone ESC as the Escape key after a short silence", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from("\u001b"))).toEqual([]);
    expect(decoder.waitMs).toBe(50);
    expect(decoder.flush()).toEqual([key("escape")]);
    expect(decoder.waitMs).toBe(500);
    expect(decoder.flush()).toEqual([]);
    expect(decoder.waitMs).toBeUndefined();
  });

  it("waits for the rest of a sequence longer than for an Escape key", () => {
    const decoder = new KeyDecoder();
    decoder.push(Buffer.from("\u001b["));
    expect(decoder.waitMs).toBe(500);
    decoder.push(Buffer.from("1;"));
    expect(decoder.waitMs).toBe(3_000);
  });

  it("waits longer after ESC while answers of the terminal are on their way", () => {
    const decoder = new KeyDecoder();
    decoder.expectsAnswers = true;
    decoder.push(Buffer.from("\u001b"));
    expect(decoder.waitMs).toBe(500);
  });

  it.each<[string, readonly string[], readonly Decoded[]]>([
    ["a key", ["[A"], [key("up")]],
    ["a key in pieces", ["[", "1;", "5C"], [key("right", "ctrl")]],
    ["a focus report before another sequence", ["[I\u001b[B"], [{ type: "focus", isFocused: true }, key("down")]],
    ["an answer", ["]11;rgb:ff/ff", "/ff\u001b\\"], [{ type: "background", kind: "light" }]],
    ["a paste", ["[200~a", "b\u001b[201~"], [{ type: "paste", text: "ab" }]],
    ["an answer in pieces", ["[?62;", "4c"], [{ type: "attributes" }]],
    ["text that only looks like a key", ["[Add"], typing("[Add")],
    ["text in brackets", ["[", "x", "]"], typing("[x]")],
    ["text", ["Open"], typing("Open")],
  ])("recognizes after the Escape key, in the next moment: %s", (_what, pieces, expected) => {
    const decoder = new KeyDecoder();
    decoder.push(Buffer.from("\u001b"));
    expect(decoder.flush()).toEqual([key("escape")]);
    expect(pieces.flatMap((piece) => decoder.push(Buffer.from(piece)))).toEqual(expected);
  });

  it("takes a bracket after the Escape key as text when nothing follows", () => {
    const decoder = new KeyDecoder();
    decoder.push(Buffer.from("\u001b"));
    decoder.flush();
    expect(decoder.push(Buffer.from("["))).toEqual([]);
    expect(decoder.flush()).toEqual(typing("["));
    expect(decoder.push(Buffer.from("A"))).toEqual(typing("A"));
  });

  it("takes keys after an answer that has lost its end", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from("\u001b]11;rgb:ff"))).toEqual([]);
    expect(decoder.push(Buffer.from("\u0003"))).toEqual([key("c", "ctrl")]);
  });

  it("does not guess while kitty's protocol is on", () => {
    const decoder = new KeyDecoder();
    decoder.push(Buffer.from("\u001b[?1u"));
    decoder.push(Buffer.from("\u001b"));
    expect(decoder.waitMs).toBe(500);
  });

  it("cuts a paste that is too long and reports it", () => {
    const found = decoded("\u001b[200~", "ab".repeat(maxPasteChars / 2), "rest", "\u001b[201~x");
    expect(found.slice(1)).toEqual([{ type: "paste_cut", keptChars: maxPasteChars }, key("x")]);
    expect(found[0]).toMatchObject({ type: "paste" });
  });

  it("ends a paste that lost its end with Ctrl-C after a silence", () => {
    const decoder = new KeyDecoder();
    decoder.push(Buffer.from("\u001b[200~text"));
    expect(decoder.push(Buffer.from("\u0003"))).toEqual([]);
    expect(decoder.flush()).toEqual([]);
    expect(decoder.push(Buffer.from("\u0003"))).toEqual([{ type: "paste", text: "text\u0003" }, key("c", "ctrl")]);
  });

  it("replaces bytes that are not UTF-8", () => {
    expect(decoded(Uint8Array.of(0x61, 0xff, 0x62))).toEqual([key("a"), key("\u{fffd}"), key("b")]);
  });

  it("finds the same keys however the bytes are cut", () => {
    const piece = fc.oneof(
      fc.constantFrom(...sequences.map(([bytes]) => bytes)),
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u001b", "\u001b[", "\u001b]", "\u001b[20", "\u001bO", "\u0003", "~", ";", "$"),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat({ max: 12 })), (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""));
        const chunks: Uint8Array[] = [];
        let start = 0;
        for (const size of sizes) chunks.push(bytes.subarray(start, (start += size)));
        expect(decoded(...chunks, bytes.subarray(start))).toEqual(decoded(bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});
