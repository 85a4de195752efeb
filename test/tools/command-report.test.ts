import { expect, test } from "vitest";
import { commandReport, exitCodeOf } from "../../src/tools/shell.js";
import type { CommandResult } from "../../src/tools/exec/run-command.js";

const plain: CommandResult = { cause: "exited", exitCode: 0, wasHeldOpen: false, leftRunning: [], durationMs: 149 };
const survivors = Array.from({ length: 22 }, (_, index) => ({ pid: index + 1, name: "sleep" }));

test.each<[Partial<CommandResult>, number, string[]]>([
  [{}, 0, []],
  [{ exitCode: 2 }, 2, []],
  [
    { wasHeldOpen: true },
    0,
    ["Background processes kept the output open and were killed, except those listed as left running"],
  ],
  [{ cause: "timed_out", exitCode: 143 }, 124, ["Timed out after 5 seconds and was killed"]],
  [{ cause: "timed_out", exitCode: 0 }, 124, ["Timed out after 5 seconds and was killed"]],
  [{ cause: "interrupted", exitCode: 143 }, 130, ["Interrupted with its turn and killed"]],
  [{ exitCode: undefined }, -1, ["Could not be killed: it hangs in a system call and may still be running"]],
  [{ leftRunning: survivors.slice(0, 2) }, 0, ["Left running: pid 1 (sleep), pid 2 (sleep)"]],
])("the result %j is reported", (part, code, notes) => {
  const end = { ...plain, ...part };
  expect(exitCodeOf(end)).toBe(code);
  const lines = [`Exit code: ${code}`, "Wall time: 0.1 seconds", ...notes, "Output:", "text"];
  expect(commandReport(end, 5_000, "text")).toBe(lines.join("\n"));
});

test("a timeout of one second is reported in the singular", () => {
  const report = commandReport({ ...plain, cause: "timed_out" }, 1_000, "");
  expect(report).toContain("Timed out after 1 second and was killed");
});

test("the list of processes left running is limited", () => {
  const report = commandReport({ ...plain, leftRunning: survivors }, 5_000, "");
  expect(report).toMatch(/pid 20 \(sleep\), 2 more\nOutput:\n$/);
});
