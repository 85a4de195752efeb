import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choicesOf } from "../../src/cli/terminal/approval-text.js";
import { type ApprovalPanel, approvalLines } from "../../src/cli/terminal/view/approval.js";
import type { ApprovalRequest } from "../../src/messages/tools/approval.js";
import { arbitraryLine, arbitraryText, arbitraryView, badLines, plainView } from "./support/view.js";

const request: ApprovalRequest = {
  approval_id: "a",
  call_id: "c",
  turn_id: "t",
  tool: "shell",
  command: ["npm", "test"],
  cwd: "/projects/site",
  reason: "no rule allows it",
};

function panel(changes: Partial<ApprovalRequest> = {}, rest: Partial<ApprovalPanel> = {}): ApprovalPanel {
  const full = { ...request, ...changes };
  return { request: full, choices: choicesOf(full), selected: 0, count: 1, ...rest };
}

describe("approvalLines", () => {
  it("asks with the exact command, the reason and the answers", () => {
    expect(approvalLines(panel(), plainView(), 24)).toEqual([
      "Run this command in /projects/site?",
      "(no rule allows it)",
      "",
      "  npm test",
      "",
      "› [y] yes, once",
      "  [a] always allow this command in this conversation",
      "  [n] no, or n and what to do instead",
      "  [s] no, and stop the turn",
    ]);
  });

  it("breaks the reason between words, and marks the rows that continue it", () => {
    const reason = "it would run outside the sandbox; the model's reason: prettier has to be downloaded";
    expect(approvalLines(panel({ reason }), plainView(60), 24).slice(1, 3)).toEqual([
      "(it would run outside the sandbox; the model's reason:",
      "  ┆ prettier has to be downloaded)",
    ]);
  });

  it("shows how many requests wait, and what else an answer allows", () => {
    const lines = approvalLines(panel({ session_prefixes: [["npm"]] }, { count: 3, selected: 1 }), plainView(), 24);
    expect(lines[0]).toBe("3 requests are waiting");
    expect(lines).toContain("If you always allow it, it may also run with more arguments.");
    expect(lines).toContain("› [a] always allow this command in this conversation");
  });

  it("shows a patch as a diff in which every character is visible", () => {
    const changes = {
      "/p/a.ts": { type: "update", unified_diff: "@@ -3 +3 @@\n-a\n+b\u200b\n", move_path: null },
    } as const;
    expect(
      approvalLines(panel({ tool: "apply_patch", command: ["apply_patch"], changes }), plainView(), 24).slice(3, 6),
    ).toEqual(["  change /p/a.ts", "   3 - a", "   3 + $'b\\342\\200\\213'"]);
  });

  it("scrolls a command that has no room, and says that there is more", () => {
    const command = ["write_file", "a.txt", Array.from({ length: 30 }, (_line, index) => `line ${index}\n`).join("")];
    const shown = (offset: number): string[] =>
      approvalLines(
        panel({ tool: "write_file", command, reason: null }, { offset, hint: "ctrl-o shows all" }),
        plainView(),
        14,
      ).slice(2, -5);
    expect(shown(0)).toEqual([
      "  write_file a.txt",
      ...[0, 1, 2, 3, 4].map((line) => `  │ line ${line}`),
      "  lines 1-6 of 31 · ctrl-o shows all",
    ]);
    expect(shown(1_000).at(-2)).toBe("  │ line 29");
  });

  it("has the command and the keys where there are very few rows", () => {
    expect(approvalLines(panel(), plainView(), 3)).toEqual([
      "Run this command in /projects/site?",
      "  npm test",
      "Allow? y/a/n/s",
    ]);
  });

  it("never has more rows than there are, no line that is too wide, and no control sequence but the theme's", () => {
    fc.assert(
      fc.property(
        arbitraryLine,
        arbitraryText,
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        arbitraryView,
        (line, text, isPatch, rows, view) => {
          const changes = isPatch ? { changes: { [line]: { type: "add" as const, content: text } } } : {};
          const lines = approvalLines(
            panel({ command: [line, text], cwd: line, reason: text, ...changes }),
            view,
            rows,
          );
          expect(lines.length).toBeLessThanOrEqual(rows);
          expect(badLines(lines, view)).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
