import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { expect, test } from "vitest";
import { summaryInput } from "../../../src/compaction/summary/summary-prompt.js";
import { ResponseItem } from "../../../src/messages/response-item.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";
import { assistant, call, ghost, output, pinned, summary, thought, user } from "../items.js";

test("messages stay, and calls and outputs become text", () => {
  const items = [user("go"), thought("hm"), assistant("I will"), call("1", "shell", { command: "ls" }), ghost("g")];
  const custom: ResponseItem[] = [
    { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch", call_id: "2" },
    { type: "custom_tool_call_output", call_id: "2", output: [{ type: "input_text", text: "Done!" }] },
  ];
  expect(summaryInput([...items, output("1", "a.txt"), ...custom, output("lost", "?"), summary("s")])).toEqual([
    user("go"),
    assistant("I will"),
    assistant('[called shell] {"command":"ls"}'),
    user("[result of shell] a.txt"),
    assistant("[called apply_patch] *** Begin Patch"),
    user("[result of apply_patch] Done!"),
    user("[result of a call] ?"),
  ]);
});

test("images become text, ids and flags are removed, and only empty messages are left out", () => {
  const image = { type: "input_image" as const, image_url: "data:x" };
  expect(
    summaryInput([{ ...user("look"), content: [image] }, { ...assistant("ok"), id: "msg_1" }, pinned("p")]),
  ).toEqual([user("[image]"), assistant("ok"), user("p")]);
  expect(summaryInput([user(""), output("1", "")])).toEqual([user("[result of a call] ")]);
});

test("long arguments and outputs are truncated in the middle", () => {
  const [told] = summaryInput([output("1", "x".repeat(100_000))]);
  expect(told?.content[0]).toMatchObject({
    text: expect.stringMatching(/^\[result of a call\] x+\n\n\[\.\.\. \d+ ch/),
  });
  expect(JSON.stringify(told).length).toBeLessThan(8_200);
  expect(JSON.stringify(summaryInput([output("1", "x".repeat(2_000))], { maxToolChars: 500 })).length).toBeLessThan(
    700,
  );
});

test("any history becomes messages that are not empty", () => {
  fc.assert(
    fc.property(fc.array(arbitraryOf(ResponseItem) as Arbitrary<ResponseItem>), (items) => {
      const told = summaryInput(items);
      expect(told.every((item) => item.content.length > 0 && item.id === undefined && item.summary === undefined)).toBe(
        true,
      );
    }),
  );
});
