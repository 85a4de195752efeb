import { expect, test } from "vitest";
import { ToolActivity } from "../../src/cli/terminal/tool-activity.js";
import type { EventMsg } from "../../src/messages/event.js";

test("a command is shown with its output as it arrives, and with its exit status if it failed", () => {
  const activity = inFolder("/projects");
  expect(activity.textOf(begin(["npm", "run", "it's"]))).toBe("$ npm run 'it'\\''s'\n");
  expect(activity.textOf(output("one\ntw"))).toBe("  one\n");
  expect(activity.textOf(output("o\n"))).toBe("  two\n");
  expect(activity.textOf(output("no line break"))).toBe("");
  expect(activity.textOf(end(3))).toBe("  no line break\n  exit code 3\n");
});

test("a successful command prints no exit status", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["true"]));
  expect(activity.textOf(end(0))).toBe("");
});

test("text that arrives only with the end event is shown then, such as why a command did not start", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["frob"]));
  expect(activity.textOf({ ...end(-1), stderr: "cannot run frob" } as EventMsg)).toBe(
    "  cannot run frob\n  exit code -1\n",
  );
});

test("saved knowledge is shown on one line, whatever it contains", () => {
  const content = `Use\n\u001b[31mpnpm ${"x".repeat(1_000)}`;
  const text = inFolder("/projects").textOf({ type: "knowledge_saved", knowledge_id: "0123abcd", content });
  expect(text).toMatch(/^💡 Knowledge saved: Use\\n\\033\[31mpnpm x{400,500}…\n$/);
});

test.each([
  [{ type: "search", query: "q\u001b[31m" }, "Searched the web for: q\\033[31m\n"],
  [{ type: "search", queries: ["a", "b"] }, "Searched the web for: a, b\n"],
  [{ type: "open_page", url: "https://nodejs.org" }, "Opened the web page https://nodejs.org\n"],
  [{ type: "find_in_page", url: "https://nodejs.org", pattern: "LTS" }, "Looked for 'LTS' in https://nodejs.org\n"],
  [{ type: "other" }, "Searched the web\n"],
])("a web search is one line: %j", (action, line) => {
  expect(inFolder("/projects").textOf({ type: "web_search_end", call_id: "ws_1", query: "", action })).toBe(line);
});

test("knowledge saved by a model is shown with the command that undoes it", () => {
  const msg = { type: "knowledge_saved", knowledge_id: "0123abcd", content: "Use pnpm", source: "model" } as const;
  expect(inFolder("/projects").textOf(msg)).toBe(
    "💡 Knowledge saved: Use pnpm\n  Undo: cody knowledge undo 0123abcd\n",
  );
});

test("a folder other than the conversation's is shown", () => {
  const activity = inFolder("/projects");
  expect(activity.textOf(begin(["ls"], "/projects/my site"))).toBe("$ ls  (in '/projects/my site')\n");
});

test("a long output shows its first ten lines as they arrive and its last five at the end", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["seq", "100"]));
  const lines = Array.from({ length: 100 }, (_, index) => `${index + 1}`);
  const live = lines.map((line) => activity.textOf(output(`${line}\n`))).join("");
  expect(live).toBe(indentedLines(lines.slice(0, 10)));
  expect(activity.textOf(end(0))).toBe(`  … 85 more lines\n${indentedLines(lines.slice(95))}`);
});

test("an output slightly longer than the live limit is shown in full", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["seq", "15"]));
  const lines = Array.from({ length: 15 }, (_, index) => `${index + 1}`);
  expect(activity.textOf(output(lines.join("\n"))) + activity.textOf(end(0))).toBe(indentedLines(lines));
});

test("one hidden line is counted in the singular", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["seq", "16"]));
  activity.textOf(output(`${Array.from({ length: 16 }, (_, index) => `${index + 1}`).join("\n")}\n`));
  expect(activity.textOf(end(0))).toContain("  … 1 more line\n  12\n");
});

test("control characters in an output are escaped, and long lines are truncated", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["cat", "evil"]));
  expect(activity.textOf(output("\u001b]52;c;eA==\u0007\u202e\n"))).toBe("  ␛]52;c;eA==␇\u{fffd}\n");
  expect(activity.textOf(output(`${"x".repeat(100_000)}\n`))).toBe(`  ${"x".repeat(500)}…\n`);
});

test("when the live output was incomplete, the last lines come from the end of each stream", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["seq", "1000000"]));
  const liveOutput = "0123456789abcde\n".repeat(8 * 1024);
  expect(activity.textOf(output(liveOutput))).toBe(indentedLines(Array.from({ length: 10 }, () => "0123456789abcde")));
  const last = ["1", "2", "3", "4", "5", "6"];
  const msg = { ...end(1), stdout: `first\n[... 9 bytes left out ...]\n${last.join("\n")}\n`, stderr: "failed" };
  expect(activity.textOf(msg as EventMsg)).toBe(
    `  … many more lines\n${indentedLines([...last.slice(1), "failed"])}  exit code 1\n`,
  );
});

test("text is truncated between characters", () => {
  const activity = inFolder("/projects");
  const wave = "\u{1f30a}";
  expect(activity.textOf(begin(["a", wave.repeat(300)], `/${wave.repeat(300)}`))).toBe(
    `$ a '${wave.repeat(248)}…  (in '/${wave.repeat(249)}…)\n`,
  );
  expect(activity.textOf(output(`x${wave.repeat(249)}`))).toBe("");
  expect(activity.textOf(output(`${wave}${wave}`))).toBe("");
  expect(activity.textOf(output("more\n"))).toBe(`  x${wave.repeat(249)}…\n`);
  const item = { type: "function_call", name: "x", arguments: JSON.stringify([`y${wave.repeat(300)}`]), call_id: "c" };
  expect(activity.textOf({ type: "raw_response_item", item })).toBe(`x y${wave.repeat(98)}…\n`);
});

test("a carriage return restarts the line, wherever the output was split", () => {
  const text = "10%\r20%\r100%\r\nnext\r\n";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const activity = inFolder("/projects");
    activity.textOf(begin(["curl"]));
    const parts = [text.slice(0, cut), text.slice(cut)].map((part) => activity.textOf(output(part)));
    expect(parts.join("") + activity.textOf(end(0))).toBe("  100%\n  next\n");
  }
});

test("a split character is joined again, and the streams do not mix", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["cat"]));
  const [first, ...rest] = Buffer.from("ö\n");
  expect(activity.textOf(output(Buffer.from([first ?? 0])))).toBe("");
  expect(activity.textOf(output("err\n", "stderr"))).toBe("  err\n");
  expect(activity.textOf(output(Buffer.from(rest)))).toBe("  ö\n");
});

test("output printed before the turn was aborted is shown", () => {
  const activity = inFolder("/projects");
  activity.textOf(begin(["sleep", "9"]));
  activity.textOf(output("half a line"));
  expect(activity.textOf({ type: "turn_aborted", reason: "interrupted" })).toBe("  half a line\n");
  expect(activity.textOf({ type: "turn_aborted", reason: "interrupted" })).toBe("");
});

test.each([
  ["read_file", { path: "notes.txt" }, "read_file notes.txt\n"],
  ["read_file", { path: "notes.txt", offset: 3, limit: 10 }, "read_file notes.txt 3 10\n"],
  ["list", {}, "list\n"],
  ["write_file", { path: "a", content: "x\n\u001b[2J" }, "write_file a x\\n\\033[2J\n"],
  ["search", { pattern: "y".repeat(300) }, `search ${"y".repeat(193)}…\n`],
  ["shell", { command: "ls" }, ""],
])("a call of %s with %j is one line", (name, args, line) => {
  const item = { type: "function_call", name, arguments: JSON.stringify(args), call_id: "c" };
  expect(inFolder("/projects").textOf({ type: "raw_response_item", item })).toBe(line);
});

test("arguments of any depth are shown", () => {
  const text = `{"deep":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const item = { type: "function_call", name: "frob", arguments: text, call_id: "c" };
  expect(inFolder("/projects").textOf({ type: "raw_response_item", item })).toBe(`frob {"deep":${"[".repeat(187)}…\n`);
});

test.each([
  [{ type: "function_call", name: "frob", arguments: "{not json", call_id: "c" }, "frob {not json\n"],
  [{ type: "function_call", name: "frob", arguments: "null", call_id: "c" }, "frob\n"],
  [{ type: "message", role: "assistant", content: [] }, ""],
  [null, ""],
])("the item %j is shown as %j", (item, text) => {
  expect(inFolder("/projects").textOf({ type: "raw_response_item", item })).toBe(text);
});

function inFolder(cwd: string): ToolActivity {
  const activity = new ToolActivity();
  activity.textOf({
    type: "session_configured",
    session_id: "s",
    model: "m",
    model_provider_id: "p",
    history_log_id: 0,
    history_entry_count: 0,
    rollout_path: null,
    approval_policy: "on-request",
    sandbox_mode: "workspace-write",
    cwd,
    session_source: "interactive",
  });
  return activity;
}

function begin(command: string[], cwd = "/projects"): EventMsg {
  return { type: "exec_command_begin", call_id: "c", turn_id: "t", command, cwd };
}

function output(chunk: string | Buffer, stream: "stdout" | "stderr" = "stdout"): EventMsg {
  return { type: "exec_command_output_delta", call_id: "c", stream, chunk: Buffer.from(chunk).toString("base64") };
}

function end(exit_code: number): EventMsg {
  const duration = { secs: 0, nanos: 0 };
  return { type: "exec_command_end", call_id: "c", stdout: "", stderr: "", exit_code, duration };
}

function indentedLines(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join("");
}

test("a patch is shown by its files when requested, and line by line when applied", () => {
  const activity = inFolder("/projects");
  const input = "*** Begin Patch\n*** Update File: a b\n-x\n+y\n*** Delete File: c\n*** End Patch";
  const item = { type: "function_call", name: "apply_patch", arguments: JSON.stringify({ input }), call_id: "c" };
  expect(activity.textOf({ type: "raw_response_item", item })).toBe("apply_patch a b c\n");
  const custom = { type: "custom_tool_call", name: "apply_patch", input, call_id: "c" };
  expect(activity.textOf({ type: "raw_response_item", item: custom })).toBe("apply_patch a b c\n");
  const changes = {
    "/projects/a b": { type: "update" as const, unified_diff: "@@ -1 +1 @@\n-x\n+y\u001b\n", move_path: null },
    "/other/c": { type: "delete" as const, content: "1\n2\n" },
  };
  const ids = { call_id: "c", turn_id: "t" };
  expect(activity.textOf({ type: "patch_apply_begin", ...ids, auto_approved: true, changes })).toBe(
    "  change 'a b'\n  @@ -1 +1 @@\n  -x\n  +y␛\n  delete /other/c (2 lines)\n",
  );
  const ended = { type: "patch_apply_end", ...ids, stdout: "Success", stderr: "disk full" } as const;
  expect(activity.textOf({ ...ended, success: true, status: "completed" })).toBe("");
  expect(activity.textOf({ ...ended, success: false, status: "failed" })).toBe("  disk full\n");
});

test("a plan is a list with a mark for each step, and its call is not shown separately", () => {
  const activity = inFolder("/projects");
  const item = { type: "function_call", name: "update_plan", arguments: "{}", call_id: "c" };
  expect(activity.textOf({ type: "raw_response_item", item })).toBe("");
  const plan = [
    { step: "read", status: "completed" as const },
    { step: "write\n\u001b[2J", status: "in_progress" as const },
    { step: "test", status: "pending" as const },
  ];
  expect(activity.textOf({ type: "plan_update", explanation: "because", plan })).toBe(
    "Plan\n  because\n  ✔ read\n  ▸ write\\n\\033[2J\n  ☐ test\n",
  );
});

test("a failed call shows the reason on one line, truncated and without control characters", () => {
  const activity = inFolder("/projects");
  activity.textOf(call("read_file", { path: "gone" }));
  expect(activity.textOf(failed("cannot read /projects/gone: no such file\nmore"))).toBe(
    "  failed: cannot read /projects/gone: no such file\n",
  );
  expect(activity.textOf(failed(`\u001b[2J${"x".repeat(1_000)}`))).toBe(`  failed: \\033[2J${"x".repeat(193)}…\n`);
  expect(activity.textOf(failed([{ type: "input_text", text: "no image" }]))).toBe("  failed: no image\n");
  expect(activity.textOf(failed(""))).toBe("  failed\n");
});

test("a successful call prints nothing more", () => {
  const activity = inFolder("/projects");
  activity.textOf(call("read_file", { path: "a" }));
  const item = { type: "function_call_output", call_id: "c", output: "failed" };
  expect(activity.textOf({ type: "raw_response_item", item })).toBe("");
});

test.each([
  [end(1), "  exit code 1\n"],
  [
    {
      type: "patch_apply_end",
      call_id: "c",
      turn_id: "t",
      stdout: "",
      stderr: "full",
      success: false,
      status: "failed",
    } as const,
    "  full\n",
  ],
  [
    {
      type: "mcp_tool_call_end",
      call_id: "c",
      invocation: { server: "s", tool: "t", arguments: {} },
      duration: { secs: 0, nanos: 0 },
      result: { Err: "gone" },
    } as const,
    "  failed: gone\n",
  ],
])("output already shown by an event is not repeated: %j", (event, text) => {
  const activity = inFolder("/projects");
  expect(activity.textOf(event)).toBe(text);
  expect(activity.textOf(failed("Exit code: 1"))).toBe("");
  expect(activity.textOf(failed("it failed"))).toBe("  failed: it failed\n");
});

const patch = "*** Begin Patch\n*** Update File: a.ts\n-x\n+y\n*** End Patch";
test.each([
  ["function_call", { arguments: JSON.stringify({ input: patch }) }],
  ["custom_tool_call", { input: patch }],
])("a failed patch shows the lines that were not found: %s", (type, given) => {
  const activity = new ToolActivity();
  const item = { type, call_id: "c", name: "apply_patch", ...given };
  expect(activity.textOf({ type: "raw_response_item", item })).toBe("apply_patch a.ts\n");
  const reason = `apply_patch verification failed: a.ts: these lines are not in it:\nif (a)\n  b();\u001b[2J`;
  expect(activity.textOf(failed(reason))).toBe(
    "  failed: apply_patch verification failed: a.ts: these lines are not in it:\n    if (a)\n      b();␛[2J\n",
  );
});

test("a call that failed without events is shown", () => {
  const activity = inFolder("/projects");
  expect(activity.textOf(call("shell", { command: ["rm", "-r", "a b"] }))).toBe("");
  expect(activity.textOf(failed("shell was refused: read-only"))).toBe(
    "$ rm -r 'a b'\n  failed: shell was refused: read-only\n",
  );
  activity.textOf(call("update_plan", { plan: 1 }));
  expect(activity.textOf(failed("plan: expected a list"))).toBe("update_plan 1\n  failed: plan: expected a list\n");
  activity.textOf(call("shell", { command: ["ls"] }));
  activity.textOf({
    type: "exec_approval_request",
    approval_id: "a",
    call_id: "c",
    turn_id: "t",
    tool: "shell",
    command: ["ls"],
    cwd: "/projects",
    reason: "",
  });
  const late = "shell was refused because the approval request timed out";
  expect(activity.textOf(failed(late))).toBe(`  failed: ${late}\n`);
});

function call(name: string, args: object): EventMsg {
  const item = { type: "function_call", name, arguments: JSON.stringify(args), call_id: "c" };
  return { type: "raw_response_item", item };
}

function failed(said: unknown): EventMsg {
  const item = { type: "function_call_output", call_id: "c", output: said, success: false };
  return { type: "raw_response_item", item };
}
