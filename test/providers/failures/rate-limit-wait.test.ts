import { expect, test } from "vitest";
import { rateLimitWaitMs } from "../../../src/providers/failures/wire-failure.js";

const now = Date.parse("2026-11-20T10:00:00Z");

test.each([
  [{}, undefined],
  [{ "x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "10s" }, undefined],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s" }, 1_000],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s" }, 62_500],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms" }, 20],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7" }, 7_000],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9h" }, 300_000],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "0" }, undefined],
  [
    {
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-11-20T10:00:09Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-20T10:00:20Z",
    },
    20_000,
  ],
  [
    { "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2020-11-20T10:00:20Z" },
    undefined,
  ],
])("the headers %j ask for a wait of %s ms", (headers, ms) => {
  expect(rateLimitWaitMs(headers as Record<string, string>, now)).toBe(ms);
});
