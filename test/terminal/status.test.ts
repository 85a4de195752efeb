import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellWidth } from "../../src/cli/terminal/screen/cells.js";
import { type Status, statusLine } from "../../src/cli/terminal/view/status.js";
import { arbitraryLine, arbitraryView, badLines, plainView, themes, withoutStyles } from "./support/view.js";

const status: Status = {
  model: "gpt-5",
  effort: "high",
  folder: "~/project",
  branch: "main",
  context: { used: 84_000, window: 200_000, compactAt: 160_000 },
  cost: 0.4,
  saved: true,
  sandbox: "workspace-write",
  approvals: "on-request",
};

describe("statusLine", () => {
  it("has all facts where there is room for them", () => {
    const line = statusLine(status, plainView(140));
    expect(line).toMatch(
      /^gpt-5 · high · ~\/project · main {2,}workspace-write · approvals on-request · saved · \$0\.40 · /,
    );
    expect(line).toMatch(/ · ━━━━╌╌╌╌┃╌ 42% of 200k$/);
    expect(cellWidth(line)).toBe(140);
  });

  it("leaves out the least important facts first", () => {
    expect(statusLine(status, plainView(80)).replace(/ {2,}/, "  ")).toBe(
      "gpt-5 · high · ~/project · main  workspace-write · ━━━━╌╌╌╌┃╌ 42% of 200k",
    );
    expect(statusLine({ ...status, saved: false }, plainView(40)).replace(/ {2,}/, "  ")).toBe(
      "gpt-5  ━━━━╌╌╌╌┃╌ 42% of 200k",
    );
    expect(statusLine({ ...status, model: "a-model-with-a-very-long-name" }, plainView(20))).toBe(
      "a-model-with-a-very…",
    );
  });

  it("warns about what needs attention before anything else", () => {
    const line = statusLine(
      { ...status, saved: false, sandbox: "danger-full-access", others: { running: 2, waiting: 1 } },
      { columns: 100, theme: themes.dark },
    );
    for (const text of ["1 waiting for you", "not saved", "danger-full-access"])
      expect(line).toContain(themes.dark.warning(text));
    expect(withoutStyles([line])[0]).toContain("2 running");
  });

  it("warns before the context is compacted", () => {
    const near = statusLine(
      { ...status, context: { used: 150_000, window: 200_000, compactAt: 160_000 } },
      { columns: 100, theme: themes.dark },
    );
    expect(near).toContain(themes.dark.warning("━"));
  });

  it("shows a gauge for every fill", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.option(fc.nat(), { nil: undefined }), (used, window, compactAt) => {
        const line = statusLine({ ...status, context: { used, window, compactAt } }, plainView(120));
        expect(line).toMatch(/[━╌┃]{10} \d+% of [\d.]+[kM]?$/);
      }),
    );
  });

  it("is never wider than the view", () => {
    fc.assert(
      fc.property(arbitraryLine, fc.boolean(), fc.nat(), arbitraryView, (line, saved, number, view) => {
        const wild = {
          ...status,
          model: line,
          effort: line,
          folder: line,
          branch: line,
          saved,
          sandbox: line,
          approvals: line,
        };
        expect(
          badLines([statusLine({ ...wild, cost: number, others: { running: number, waiting: number } }, view)], view),
        ).toEqual([]);
      }),
    );
  });
});
