import { expect, test } from "vitest";
import { strategies } from "../../../src/compaction/strategy-for.js";
import { summaryPrompt } from "../../../src/compaction/summary/summary-prompt.js";

test.each([...strategies.values()])("$name asks for all a summary needs", (strategy) => {
  const prompt = summaryPrompt({ strategy });
  expect(prompt.startsWith(strategy.prompt)).toBe(true);
  expect(prompt).toContain("concise summary");
  expect(prompt).toMatch(/decisions[^]*information[^]*state of work[^]*unresolved issues and next steps/);
  expect(prompt).toContain("Keep file paths and identifiers exactly");
  expect(prompt.match(/^##.*$/gm)).toEqual([
    "## Goal",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
  ]);
  expect(prompt.includes("under 500 tokens")).toBe(strategy.name === "codex");
  expect(prompt).not.toContain("previous_summary");
});

const strategy = { prompt: "Sum it up." };

test("an earlier summary is updated, and stands in the prompt", () => {
  const prompt = summaryPrompt({ strategy, previousSummary: "## Goal\nBuild a $& house." });
  expect(prompt).toMatch(/keep everything[^]*add what is new[^]*In Progress[^]*to Done[^]*Next Steps[^]*structure/);
  expect(prompt).toContain("<previous_summary>\n## Goal\nBuild a $& house.\n</previous_summary>");
});

test("a text of the user replaces ours, but not what is asked in particular", () => {
  const prompt = summaryPrompt({ strategy, custom: "Mine.", previousSummary: "old", instructions: "only the API" });
  expect(prompt.startsWith("Mine.\n\n")).toBe(true);
  expect(prompt).not.toContain("Sum it up.");
  expect(prompt).toContain("<previous_summary>\nold\n</previous_summary>");
  expect(prompt.endsWith("The user asks for this in particular:\nonly the API")).toBe(true);
});
