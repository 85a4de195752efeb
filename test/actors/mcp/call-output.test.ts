import { expect, test } from "vitest";
import { images } from "../../support/images.js";
import { callResult, promptText, resultOutput, shortenedResult } from "../../../src/actors/mcp/call-output.js";

function outputOf(answer: unknown) {
  const result = callResult(answer);
  return result === undefined ? undefined : resultOutput(result);
}

test("images are shown, and an embedded resource is typed by its content", () => {
  const data = images.png.toString("base64");
  const blob = images.gif.toString("base64");
  const content = [
    { type: "text", text: "look" },
    // The MIME type the server claims differs from the content.
    { type: "image", mimeType: "image/jpeg", data },
    { type: "resource", resource: { uri: "x://1", mimeType: "image/gif", blob } },
    { type: "audio", mimeType: "audio/wav", data },
  ];
  expect(outputOf({ content })).toEqual({
    success: true,
    content: [
      "look",
      `[image image/jpeg, ${images.png.length} bytes]`,
      `[resource x://1, image/gif, ${images.gif.length} bytes]`,
      `[audio audio/wav, ${images.png.length} bytes, not shown]`,
    ].join("\n"),
    images: [`data:image/png;base64,${data}`, `data:image/gif;base64,${blob}`],
  });
});

function image(data: unknown) {
  return { type: "image", mimeType: "image/png", data };
}

test("an invalid, oversized or surplus image is replaced by a note with the reason", () => {
  const data = images.png.toString("base64");
  const large = Buffer.concat([images.png, Buffer.alloc(3_750_000)]).toString("base64");
  const odd = outputOf({ content: [image(large), image(data.slice(0, 40)), image("<svg/>"), image(7)] });
  expect(odd?.images).toBeUndefined();
  expect(odd?.content.split("\n")).toEqual([
    expect.stringMatching(/, not shown: it is larger than 3750000 bytes\]$/),
    expect.stringMatching(/, not shown: its end is missing \(image\/png\)\]$/),
    expect.stringMatching(/, not shown: it is not a png, jpeg, gif or webp image\]$/),
    "[image image/png, 0 bytes, not shown]",
  ]);
  const single = { type: "resource", resource: { uri: "x://1", mimeType: "a/b", blob: "AA==" } };
  expect(outputOf({ content: [single] })?.content).toBe("[resource x://1, a/b, 1 byte, not shown]");
  const many = outputOf({ content: Array.from({ length: 10 }, () => image(data)) });
  expect(many?.images).toHaveLength(8);
  expect(many?.content.match(/not shown: there are more than 8 images/g)).toHaveLength(2);
});

test("an event contains no binary data and only a bounded part of embedded text", () => {
  const result = callResult({
    content: [
      { type: "image", mimeType: "image/png", data: images.png.toString("base64") },
      { type: "resource", resource: { uri: "x://1", text: "x".repeat(1_000_000) } },
    ],
  });
  if (result === undefined) throw new Error("no result");
  const told = shortenedResult(result);
  expect(told.content[0]).toEqual({ type: "text", text: `[image image/png, ${images.png.length} bytes]` });
  expect(JSON.stringify(told).length).toBeLessThan(40_000);
});

test("text is passed on, and any other content is described", () => {
  const content = [
    { type: "text", text: "one" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
    { type: "resource_link", uri: "x://1", name: "a file" },
    { type: "resource", resource: { uri: "x://2", text: "inside" } },
    { type: "resource", resource: { uri: "x://3", mimeType: "a/b", blob: "AAAA" } },
    { type: "hologram" },
  ];
  expect(outputOf({ content, structuredContent: { said: "one" } })).toEqual({
    success: true,
    content: [
      "one",
      "[image image/png, 3 bytes, not shown: it is not a png, jpeg, gif or webp image]",
      "[resource x://1: a file]",
      "[resource x://2]\ninside",
      "[resource x://3, a/b, 3 bytes, not shown]",
      "[hologram, not shown]",
    ].join("\n"),
  });
});

test("a result without text shows its structured values, and an empty result says so", () => {
  expect(outputOf({ structuredContent: { degrees: 21 } })?.content).toBe('{"degrees":21}');
  expect(outputOf({ content: [], isError: true })).toEqual({ content: "(no output)", success: false });
  expect(outputOf({ content: "text" })).toBeUndefined();
});

test("a very long output is truncated for the model, and shorter for an event", () => {
  const text = "x".repeat(3_000_000);
  const result = callResult({
    content: [
      { type: "text", text },
      { type: "text", text },
    ],
  });
  if (result === undefined) throw new Error("no result");
  expect(resultOutput(result).content).toMatch(/x…\n\[\d+ characters left out\]$/);
  expect(JSON.stringify(shortenedResult(result)).length).toBeLessThan(40_000);
  const many = callResult({ content: Array.from({ length: 5_000 }, () => ({ type: "text", text: "x" })) });
  expect(many === undefined ? "" : resultOutput(many).content).toContain("[4000 more parts left out]");
  const one = outputOf({ content: Array.from({ length: 1_001 }, () => ({ type: "text", text: "x" })) });
  expect(one?.content).toContain("[1 more part left out]");
});

test("a result nested too deeply to serialize is described as such", () => {
  const depth = 100_000;
  const deep: unknown = JSON.parse("[".repeat(depth) + "]".repeat(depth));
  expect(outputOf({ content: [], structuredContent: deep })?.content).toBe("[nested too deeply to show]");
});

test("a prompt becomes the text of its messages", () => {
  const content = { type: "text", text: "Hello" };
  expect(promptText({ messages: [{ role: "user", content }, { role: "assistant", content: 7 }, null] })).toBe(
    "Hello\n\n\n\n",
  );
  expect(promptText(undefined)).toBe("");
});
