import { expect, test } from "vitest";
import { strategies } from "../../../src/compaction/strategy-for.js";
import { summaryPrompt } from "../../../src/compaction/summary/summary-prompt.js";

test.each([...strategies.values()])("the prompt of $name asks for every section of a summary", (strategy) => {
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

test("the prompt contains an earlier summary and asks for an update", () => {
  const prompt = summaryPrompt({ strategy, previousSummary: "## Goal\nBuild a $& house." });
  expect(prompt).toMatch(/keep everything[^]*add what is new[^]*In Progress[^]*to Done[^]*Next Steps[^]*structure/);
  expect(prompt).toContain("<previous_summary>\n## Goal\nBuild a $& house.\n</previous_summary>");
});

test("a custom prompt replaces the default, but not the additional instructions", () => {
  const prompt = summaryPrompt({ strategy, custom: "Mine.", previousSummary: "old", instructions: "only the API" });
  expect(prompt.startsWith("Mine.\n\n")).toBe(true);
  expect(prompt).not.toContain("Sum it up.");
  expect(prompt).toContain("<previous_summary>\nold\n</previous_summary>");
  expect(prompt.endsWith("The user asks for this in particular:\nonly the API")).toBe(true);
});
