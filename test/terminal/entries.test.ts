import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FileDiff, TurnDiff } from "../../src/messages/tools/diff.js";
import { activityLine, queuedLines, toolLiveLines } from "../../src/cli/terminal/view/activity.js";
import {
  changesLines,
  knowledgeLines,
  noticeLines,
  planLines,
  reasoningLine,
  toolSummaryLines,
  userLines,
} from "../../src/cli/terminal/view/entries.js";
import type { View } from "../../src/cli/terminal/view/view.js";
import { Emulator } from "./support/emulator.js";
import {
  arbitraryLine,
  arbitraryText,
  arbitraryView,
  badLines,
  plainView,
  themes,
  withoutStyles,
} from "./support/view.js";

const dark: View = { columns: 80, theme: themes.dark };

function turnDiff(
  modified: readonly string[],
  created: readonly string[] = [],
  deleted: readonly string[] = [],
): TurnDiff {
  return {
    unified_diff: "",
    summary: {
      files_modified: modified.length,
      files_created: created.length,
      files_deleted: deleted.length,
      total_additions: 4,
      total_deletions: 1,
    },
    files_modified: [...modified],
    files_created: [...created],
    files_deleted: [...deleted],
    files: [
      ...modified.map((path) => fileDiff(path, "modified")),
      ...created.map((path) => fileDiff(path, "created")),
      ...deleted.map((path) => fileDiff(path, "deleted")),
    ],
  };
}

describe("entries of the transcript", () => {
  it("shows an input behind a mark", () => {
    expect(userLines("fix the\n  tests please\n", plainView(20))).toEqual(["› fix the", "    tests please"]);
  });

  it("cuts an input of many lines", () => {
    const lines = userLines(Array.from({ length: 100 }, (_line, index) => `line ${index}`).join("\n"), plainView());
    expect(lines).toHaveLength(40);
    expect(lines.at(-1)).toBe("  … 61 more lines");
  });

  it("folds reasoning into a line", () => {
    expect(reasoningLine({ elapsedMs: 4_300 }, plainView())).toBe("∴ Thought for 4 s");
    expect(reasoningLine({ elapsedMs: 20, hint: "ctrl-o to read" }, plainView())).toBe(
      "∴ Thought for 1 s · ctrl-o to read",
    );
    expect(reasoningLine({ elapsedMs: 125_000 }, plainView())).toBe("∴ Thought for 2 min 5 s");
  });

  it("shows a call that succeeded on one line", () => {
    const tool = { title: "$ npm test", outcome: "done", elapsedMs: 3_210, outputLines: 120 } as const;
    expect(toolSummaryLines(tool, plainView())).toEqual(["✓ $ npm test · 3.2 s · 120 lines"]);
    expect(toolSummaryLines({ ...tool, title: `$ ${"x".repeat(100)}` }, plainView(40))).toEqual([
      `✓ $ ${"x".repeat(15)}… · 3.2 s · 120 lines`,
    ]);
  });

  it("shows the reason and the end of the output of a call that failed", () => {
    const tail = ["1", "2", "3", "4", "5", "6\u001b[31m"];
    expect(toolSummaryLines({ title: "$ make", outcome: "failed", detail: "exit code 2", tail }, plainView())).toEqual([
      "✗ $ make · exit code 2",
      "  │ 2",
      "  │ 3",
      "  │ 4",
      "  │ 5",
      "  │ 6␛[31m",
    ]);
  });

  it("shows a long reason below the call", () => {
    const detail = "the folder does not exist: /projects/none";
    expect(toolSummaryLines({ title: "$ make", outcome: "failed", detail }, plainView())).toEqual([
      "✗ $ make · failed",
      `  ${detail}`,
    ]);
  });

  it("says in words that a call was refused or interrupted", () => {
    expect(toolSummaryLines({ title: "$ rm -r x", outcome: "refused" }, plainView())).toEqual([
      "⊘ $ rm -r x · refused",
    ]);
    expect(toolSummaryLines({ title: "$ sleep 9", outcome: "interrupted" }, plainView())).toEqual([
      "■ $ sleep 9 · interrupted",
    ]);
  });

  it("shows the changes of a patch as diffs", () => {
    const changes = {
      "/p/a.ts": { type: "update", unified_diff: "@@ -7 +7 @@\n-a\n+b\n", move_path: null },
      "/p/new.ts": { type: "add", content: "one\ntwo\n" },
      "/q/old.ts": { type: "delete", content: "x\n" },
    } as const;
    expect(toolSummaryLines({ title: "apply_patch", outcome: "done", changes, cwd: "/p" }, plainView())).toEqual([
      "✓ apply_patch",
      "  change a.ts",
      "   7 - a",
      "   7 + b",
      "  add new.ts",
      "   1 + one",
      "   2 + two",
      "  delete /q/old.ts (1 line)",
    ]);
  });

  it("shows the states of a plan", async () => {
    const plan = {
      explanation: "Because",
      plan: [
        { step: "done", status: "completed" },
        { step: "current", status: "in_progress" },
        { step: "later and long", status: "pending" },
      ],
    } as const;
    const lines = ["Plan", "  Because", "  ✔ done", "  ▸ current", "  ☐ later and long"];
    expect(planLines({ ...plan, plan: [...plan.plan] }, plainView())).toEqual(lines);
    const emulator = new Emulator();
    await emulator.write(planLines({ ...plan, plan: [...plan.plan] }, dark).join("\r\n"));
    expect(emulator.screen()).toEqual(lines);
    expect(emulator.attributesOf("current").bold).toBe(true);
  });

  it("shows the changes of a turn in a box", () => {
    expect(changesLines(turnDiff(["src/a.ts"], ["b.ts"], ["c.ts"]), plainView())).toEqual([
      "╭───────────────────────────────────╮",
      "│ Changes This Turn                 │",
      "├───────────────────────────────────┤",
      "│ Modified:                         │",
      "│   • src/a.ts (+3, -1)             │",
      "│                                   │",
      "│ Created:                          │",
      "│   • b.ts                          │",
      "│                                   │",
      "│ Deleted:                          │",
      "│   • c.ts                          │",
      "│                                   │",
      "│ Total: 4 additions, 1 deletion    │",
      "╰───────────────────────────────────╯",
    ]);
  });

  it("cuts paths and not numbers, and aligns wide characters", () => {
    const lines = changesLines(turnDiff([`${"long/".repeat(10)}文件.ts`, "文.ts"]), plainView(24));
    expect(lines.slice(3, 6)).toEqual([
      "│ Modified:            │",
      "│   • long/l… (+3, -1) │",
      "│   • 文.ts (+3, -1)   │",
    ]);
  });

  it("marks notices by what they are", () => {
    expect(noticeLines("info", "Model set to x", plainView())).toEqual(["· Model set to x"]);
    expect(noticeLines("warning", "slow\nnetwork", plainView())).toEqual(["! slow", "  network"]);
    expect(noticeLines("error", "Cannot save", plainView())).toEqual(["✗ Cannot save"]);
  });

  it("shows saved knowledge and how to remove it", () => {
    const msg = { type: "knowledge_saved", knowledge_id: "k1", content: "Use pnpm\n", source: "model" } as const;
    expect(knowledgeLines(msg, plainView())).toEqual([
      "💡 Knowledge saved: Use pnpm\\n",
      "  Undo: cody knowledge undo k1",
    ]);
  });
});

describe("the live region", () => {
  it("says what cody waits for, and for how long", () => {
    expect(activityLine({ label: "Thinking", elapsedMs: 400, frame: 0 }, plainView())).toBe("⠋ Thinking");
    expect(
      activityLine({ label: "Thinking", elapsedMs: 12_900, frame: 11, hint: "esc to interrupt" }, plainView()),
    ).toBe("⠙ Thinking · 12 s · esc to interrupt");
  });

  it("shows the end of the output of a running tool, in as many rows as there are", () => {
    const tool = { title: "$ npm test", tail: ["one", "two", "three"], elapsedMs: 65_000, frame: 0 };
    expect(toolLiveLines(tool, plainView(), 3)).toEqual(["⠋ $ npm test · 1 min 5 s", "  │ two", "  │ three"]);
    expect(toolLiveLines(tool, plainView(), 1)).toEqual(["⠋ $ npm test · 1 min 5 s"]);
    expect(toolLiveLines(tool, plainView(), 0)).toEqual([]);
    expect(toolLiveLines({ ...tool, title: `$ ${"x".repeat(40)}` }, plainView(30), 1)).toEqual([
      `⠋ $ ${"x".repeat(13)}… · 1 min 5 s`,
    ]);
  });

  it("lists inputs that wait", () => {
    const inputs = [
      { text: "fix it\nnow", kind: "steer" },
      { text: "then test", kind: "queue" },
    ] as const;
    expect(queuedLines(inputs, plainView())).toEqual(["  sending  fix it ⏎ now", "  queued   then test"]);
    const many = Array.from({ length: 9 }, (_input, index) => ({ text: `${index}`, kind: "queue" as const }));
    expect(queuedLines(many, plainView())).toHaveLength(5);
    expect(queuedLines(many, plainView()).at(-1)).toBe("  … 5 more inputs");
  });
});

it("no line of an entry is wider than the view or has control sequences but the theme's", () => {
  const outcome = fc.constantFrom("done", "failed", "refused", "interrupted");
  const status = fc.constantFrom("pending", "in_progress", "completed");
  fc.assert(
    fc.property(
      arbitraryLine,
      arbitraryText,
      outcome,
      status,
      fc.nat(),
      arbitraryView,
      (line, text, how, state, number, view) => {
        const changes = {
          [line]: { type: "add", content: text },
          b: { type: "update", unified_diff: text, move_path: line },
        } as const;
        const tool = {
          title: line,
          outcome: how,
          detail: text,
          elapsedMs: number,
          outputLines: number,
          tail: [text, line],
          changes,
        } as const;
        const lines = [
          ...userLines(text, view),
          reasoningLine({ elapsedMs: number, hint: line }, view),
          ...toolSummaryLines(tool, view),
          ...planLines({ explanation: text, plan: [{ step: line, status: state }] }, view),
          ...changesLines(turnDiff([line, text]), view),
          ...noticeLines("error", text, view),
          ...knowledgeLines({ type: "knowledge_saved", knowledge_id: line, content: text, source: "model" }, view),
          activityLine({ label: line, elapsedMs: number, frame: number, hint: text }, view),
          ...toolLiveLines({ title: text, tail: [line, text], elapsedMs: number, frame: number }, view, 9),
          ...queuedLines([{ text, kind: "queue" }], view),
        ];
        expect(badLines(lines, view)).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

it("an entry is the same text in every theme", () => {
  expect(withoutStyles(someEntries(dark))).toEqual(someEntries(plainView()));
});

function someEntries(view: View): string[] {
  return [
    ...noticeLines("warning", "text", view),
    ...planLines({ plan: [{ step: "a", status: "completed" }] }, view),
    ...toolSummaryLines({ title: "$ ls", outcome: "failed", detail: "exit code 1" }, view),
  ];
}

function fileDiff(path: string, status: FileDiff["status"]): FileDiff {
  return { path, status, additions: 3, deletions: 1, hunks: [] };
}
