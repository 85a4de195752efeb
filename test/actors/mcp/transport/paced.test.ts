import { expect, test } from "vitest";
import { paced } from "../../../../src/actors/mcp/transport/stdio-transport.js";

test("long work yields to the event loop, however small its parts are", async () => {
  let clock = 0;
  let inARow = 0;
  let longest = 0;
  const others = setInterval(() => (inARow = 0), 1);
  const work = Array.from({ length: 100 }, () => () => {
    clock += 2;
    longest = Math.max(longest, (inARow += 1));
  });
  await paced(work, () => clock);
  clearInterval(others);
  expect(clock).toBe(200);
  expect(longest).toBe(5);
});
