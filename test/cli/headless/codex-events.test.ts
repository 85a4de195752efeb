import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/messages/model.js";
import type { Reply } from "../../support/scripted-provider.js";
import { assistant, calls, says, scripted } from "../../support/scripted-provider.js";
import { FakeTerminal } from "../../support/cli-terminal.js";

const fixtures = new URL("../../fixtures/codex/v0.166.0/", import.meta.url);

const patch = `*** Begin Patch
*** Update File: README.md
@@
-# Demo project
+# Demo project, read
*** Add File: notes.txt
+seen
*** End Patch`;

/** A message before a call, in one answer. */
function saysThen(text: string, call: Reply): Reply {
  const message: ModelEvent = { type: "item", itemId: "before", item: assistant(text) };
  return [message, ...call];
}

function runs(callId: string, script: string): Reply {
  return calls("shell", callId, { command: ["sh", "-c", script] });
}

function thinks(...summary: readonly string[]): ModelEvent {
  const texts = summary.map((text) => ({ type: "summary_text" as const, text }));
  return { type: "item", itemId: "thought", item: { type: "reasoning", summary: texts, encrypted_content: null } };
}

interface Scenario {
  readonly name: string;
  readonly replies: readonly Reply[];
}

const scenarios: readonly Scenario[] = [
  {
    name: "tools",
    replies: [
      saysThen("I will look at the project.", runs("a", "echo hello && cat README.md")),
      runs("b", "ls /nope; exit 3"),
      calls("apply_patch", "c", { input: patch }),
      says("Done: read the README, added notes.txt."),
    ],
  },
  {
    name: "reasoning",
    replies: [
      [thinks("**Reading** I should read the file first.", "**Answering** Now I know."), ...runs("a", "cat README.md")],
      says("The project is a demo."),
    ],
  },
];

test.each(scenarios)(
  "the events of $name are those of a real Codex, apart from ids, folders and tokens",
  async ({ name, replies }) => {
    const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
    await writeFile(join(terminal.cwd, "README.md"), "# Demo project\n");
    const flags = ["--json", "--no-stdin", "--sandbox", "danger-full-access"];
    expect(await terminal.run("exec", "go", ...flags)).toBe(0);
    const golden = await readFile(new URL(`${name}/exec-json.0.txt`, fixtures), "utf8");
    expect(comparable(terminal.screen, terminal.cwd)).toEqual(comparable(golden, "/tmp/proj"));
  },
);

function comparable(lines: string, folder: string): unknown[] {
  return lines
    .trimEnd()
    .split("\n")
    .map(
      (line) => JSON.parse(line.replaceAll(folder, "").replaceAll("/bin/bash -lc", "sh -c")) as Record<string, unknown>,
    )
    .map((event) => ({
      ...event,
      ...("thread_id" in event ? { thread_id: "" } : {}),
      ...("usage" in event ? { usage: Object.keys(event["usage"] as object).toSorted() } : {}),
    }));
}
