import { expect, test } from "vitest";
import { extractFileOperations, formatFileOperations } from "../../../src/compaction/summary/file-operations.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { call, output } from "../items.js";

const patch =
  "*** Begin Patch\n*** Add File: new.ts\n+x\n*** Update File: old.ts\n*** Move to: moved.ts\n*** End Patch";

function done(name: string, args: unknown): ResponseItem[] {
  return [call("1", name, args), output("1")];
}

test.each([
  ["read", { file_path: "a" }, ["a"], []],
  ["read_file", { path: "a" }, ["a"], []],
  ["grep", { pattern: "x", path: "src" }, ["src"], []],
  ["glob", { pattern: "*.ts" }, [], []],
  ["list_files", { paths: ["a", "b", 3] }, ["a", "b"], []],
  ["view_image", { path: "a.png" }, ["a.png"], []],
  ["write_file", { path: "a", content: "*** no patch" }, [], ["a"]],
  ["edit", { file_path: "a" }, [], ["a"]],
  ["apply_patch", { input: patch }, [], ["new.ts", "old.ts", "moved.ts"]],
  ["shell", { command: ["apply_patch", patch] }, [], ["new.ts", "old.ts", "moved.ts"]],
  ["shell", { command: ["cat", "a"] }, [], []],
  ["read_file", "nonsense", [], []],
  ["read_file", { path: "a\nb" }, [], []],
  ["read_file", null, [], []],
])("file operations of %s with %j", (name, args, readFiles, modifiedFiles) => {
  expect(extractFileOperations(done(name, args))).toEqual({ readFiles, modifiedFiles });
});

test("custom and shell calls are analysed too", () => {
  const items: ResponseItem[] = [
    { type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "1" },
    { type: "custom_tool_call_output", call_id: "1", output: "Done!" },
    { type: "local_shell_call", call_id: "2", status: "completed", action: { type: "exec", command: ["x", patch] } },
    output("2"),
  ];
  expect(extractFileOperations(items).modifiedFiles).toEqual(["new.ts", "old.ts", "moved.ts"]);
});

test("a call without an output, or with invalid JSON arguments, adds no files", () => {
  const broken: ResponseItem = { type: "function_call", name: "read_file", arguments: "{", call_id: "2" };
  const items = [call("1", "read_file", { path: "a" }), broken, output("2"), output("3")];
  expect(extractFileOperations(items)).toEqual({ readFiles: [], modifiedFiles: [] });
});

test("known files come first, and each file once", () => {
  const before = { readFiles: ["z", "a"], modifiedFiles: ["m"] };
  expect(extractFileOperations([...done("read", { path: "a" }), ...done("read", { path: "b" })], before)).toEqual({
    readFiles: ["z", "a", "b"],
    modifiedFiles: ["m"],
  });
});

test("each non-empty list has a heading", () => {
  expect(formatFileOperations({ readFiles: ["a", "b"], modifiedFiles: ["c"] })).toBe(
    "\n## Files Read\n- a\n- b\n\n## Files Modified\n- c",
  );
  expect(formatFileOperations({ readFiles: [], modifiedFiles: ["c"] })).toBe("\n## Files Modified\n- c");
  expect(formatFileOperations({ readFiles: [], modifiedFiles: [] })).toBe("");
});

test("only the newest of thousands of files are listed", () => {
  const readFiles = Array.from({ length: 1_000 }, (_, index) => `file${index}`);
  const text = formatFileOperations({ readFiles, modifiedFiles: [] });
  expect(text).toMatch(/^\n## Files Read\n- \(800 more before these\)\n- file800\n[^]*- file999$/);
});
