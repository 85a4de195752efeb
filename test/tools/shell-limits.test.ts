import { expect, test } from "vitest";
import { shell } from "../../src/tools/shell.js";
import { call, toolContext } from "./tool-context.js";
import { processOutput } from "./tool-process.js";

const mib = 1024 * 1024;

test.each(["yes", "while :; do echo y; done"])("%s is killed at its timeout with bounded memory", async (command) => {
  const args = { command, timeout_ms: 800 };
  const { content, success, maxRssBytes } = await processOutput({ tool: "shell", args });
  expect(success).toBe(false);
  expect(content).toMatch(/^Exit code: 124\nWall time: .*\nTimed out after 0.8 seconds and was killed\nOutput:\n/);
  expect(content.length).toBeLessThan(33 * 1024);
  expect(maxRssBytes).toBeLessThan(300 * mib);
});

test("a command with much output is not blocked, and its output events are limited", async () => {
  const context = await toolContext();
  const { content } = await call(shell, { command: "head -c 20000000 /dev/zero; echo end >&2" }, context);
  expect(content).toMatch(/^Exit code: 0\n/);
  expect(content).toMatch(/\0\n\[\.\.\. \d+ bytes left out \.\.\.\]\n\0/);
  const chunks = context.events.seen.flatMap((event) =>
    event.type === "exec_command_output_delta" ? event.chunk : [],
  );
  expect(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk, "base64"))).length).toBe(mib / 8);
  const end = context.events.seen.at(-1);
  expect(end).toMatchObject({ type: "exec_command_end", exit_code: 0, stderr: "end\n" });
});

test.each([0, 3, 6])("with %i free descriptors the call returns a failed output", async (freeDescriptors) => {
  const output = await processOutput({ tool: "shell", args: { command: ["true"] }, freeDescriptors }, "ulimit -n 100");
  expect(output).toMatchObject({ content: "cannot run true: too many open files", success: false });
});
