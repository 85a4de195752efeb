import { expect, test } from "vitest";
import { LearningRedactor } from "../../../src/config/secrets/text-redactor.js";

const none = (): void => undefined;

test("a learned secret is redacted from then on, together with the known ones", () => {
  const redactor = new LearningRedactor({ secrets: ["first-secret"], names: [], shapes: false });
  const { secrets } = redactor;
  expect(redactor.redact("first-secret later-secret", none)).toBe("[redacted] later-secret");
  expect(redactor.suspects('"later-secret"')).toBe(false);
  redactor.learn("later-secret");
  redactor.learn("later-secret");
  expect(redactor.redact("first-secret later-secret", none)).toBe("[redacted] [redacted]");
  expect(redactor.redactKnown("later-secret", none)).toBe("[redacted]");
  expect(redactor.suspects('"later-secret"')).toBe(true);
  expect(secrets).toEqual(["first-secret", "later-secret"]);
});

test("with too many learned secrets the oldest are dropped, and the configured ones never", () => {
  const redactor = new LearningRedactor({ secrets: ["given-secret"], names: [], shapes: false });
  for (let count = 0; count <= 100; count += 1) redactor.learn(`learned-${count}-`);
  expect(redactor.secrets).toHaveLength(101);
  expect(redactor.redact("given-secret learned-0- learned-1- learned-100-", none)).toBe(
    "[redacted] learned-0- [redacted] [redacted]",
  );
});
