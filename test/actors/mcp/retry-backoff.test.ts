import { expect, test } from "vitest";
import { RetryBackoff } from "../../../src/actors/mcp/mcp-servers.js";

test("retry pauses grow up to a bound, and restart from the first after a success", () => {
  let now = 0;
  const pause = new RetryBackoff(() => now);
  expect(pause.isOver).toBe(true);
  const lengths = Array.from({ length: 9 }, () => {
    const began = now;
    pause.failed();
    while (!pause.isOver) now += 1_000;
    return (now - began) / 1_000;
  });
  expect(lengths).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
  pause.worked();
  pause.failed();
  now += 5_000;
  expect(pause.isOver).toBe(true);
});
