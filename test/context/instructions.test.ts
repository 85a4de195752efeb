import { expect, test } from "vitest";
import { buildInstructions } from "../../src/context/instructions.js";

const place = { cwd: "/projects/project", platform: "linux", date: new Date("2026-11-16T23:59:59.999Z") };

test("the instructions are the base prompt and the folder, system and date", () => {
  expect(buildInstructions({ ...place, base: "Be brief." })).toBe(
    "Be brief.\n\nCurrent working directory: /projects/project\nPlatform: linux\nDate: 2026-11-16",
  );
});

test("without a base prompt cody's own is used", () => {
  const [first, ...rest] = buildInstructions(place).split("\n");
  expect(first).toBe("You are cody, a coding agent. You work in the user's project through the tools you are given.");
  expect(rest.slice(-3)).toEqual([
    "Current working directory: /projects/project",
    "Platform: linux",
    "Date: 2026-11-16",
  ]);
});

test("knowledge comes before the instruction files, then the configured text, then how to save knowledge", () => {
  const text = buildInstructions({
    ...place,
    base: "Be brief.",
    knowledge: { section: "## Project Knowledge\nKnown:\n\n- [pattern] vitest\n" },
    files: [
      { path: "/home/AGENTS.md", text: "Mine." },
      { path: "/projects/project/AGENTS.md", text: "Ours." },
    ],
    extra: ["Answer in French."],
  });
  const [instruction = ""] = /You have the tool add_knowledge\.[^]*$/.exec(text) ?? [];
  for (const word of ["patterns", "preferences", "decisions", "corrections"]) expect(instruction).toContain(word);
  expect(text.slice(0, -instruction.length)).toBe(
    [
      "Be brief.",
      "Current working directory: /projects/project\nPlatform: linux\nDate: 2026-11-16",
      "## Project Knowledge\nKnown:\n\n- [pattern] vitest",
      "Instructions from: /home/AGENTS.md\nMine.",
      "Instructions from: /projects/project/AGENTS.md\nOurs.",
      "Answer in French.",
      "",
    ].join("\n\n"),
  );
});
