import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import type { FileChange, FileChanges } from "../../messages/tools/file-change.js";
import { failureText, FileProblem, targetChanged } from "../files/file-problem.js";
import { openForModel } from "../files/open-for-model.js";
import { readAt } from "../../base/fs/open-regular.js";
import { statExisting } from "../files/replace-file.js";
import type { ToolScope } from "../tool.js";
import { type WriteTarget, writeTarget } from "../policy/target-paths.js";
import { type FilePatch, type FileUpdate, parsePatch } from "./parse-patch.js";
import { applyChunks } from "./apply-chunks.js";

/** The maximum total size of all files of a patch, old and new content together. */
const maxBytes = 8_000_000;
const maxFiles = 500;

/** The state of one path before and after a patch. */
export interface PlannedFile {
  readonly target: WriteTarget;
  /** Undefined if there was no file before. */
  readonly old: BigIntStats | undefined;
  /** The file whose permissions it gets. */
  readonly like: BigIntStats | undefined;
  /** Undefined if there is no file afterwards. */
  readonly content: string | undefined;
}

interface PatchPlan {
  readonly files: readonly PlannedFile[];
  readonly changes: FileChanges;
  /** The report for the model, one line per file. */
  readonly done: readonly string[];
}

interface PlannedPart {
  readonly files: readonly PlannedFile[];
  readonly change: FileChange;
  readonly done: string;
}

/** Plans everything that a patch would do, without doing any of it; rejects if any part is impossible. */
export async function planPatch(input: string, scope: ToolScope): Promise<PatchPlan> {
  const patches = parsePatch(input);
  if (patches.length > maxFiles) throw new FileProblem(`a patch can change at most ${maxFiles} files`);
  const parts: PlannedPart[] = [];
  let bytes = 0;
  for (const patch of patches) {
    const part = await named(patch.path, () => plannedPart(patch, scope, maxBytes - bytes));
    bytes += sizeOf(part);
    if (bytes > maxBytes) throw new FileProblem(`its files are larger than ${maxBytes} bytes in total`);
    parts.push(part);
  }
  const files = parts.flatMap((part) => part.files);
  refuseDoubles(files);
  const changes = parts.map(({ files: [first], change }) => [first?.target.realPath ?? "", change] as const);
  return { files, changes: Object.fromEntries(changes), done: parts.map(({ done }) => done) };
}

async function plannedPart(patch: FilePatch, scope: ToolScope, bytesLeft: number): Promise<PlannedPart> {
  const target = await writeTarget(patch.path, scope);
  if (patch.type === "add") {
    const { content } = patch;
    await refuseExisting(target);
    const file = { target, old: undefined, like: undefined, content };
    return { files: [file], change: { type: "add", content }, done: `A ${patch.path}` };
  }
  const { stats, text } = await readOld(target, bytesLeft, scope);
  if (patch.type === "update") return await plannedUpdate(patch, { target, stats, text }, scope);
  const file = { target, old: stats, like: undefined, content: undefined };
  return { files: [file], change: { type: "delete", content: text }, done: `D ${patch.path}` };
}

interface OldFile {
  readonly target: WriteTarget;
  readonly stats: BigIntStats;
  readonly text: string;
}

async function plannedUpdate(
  { path, movePath, chunks }: FileUpdate,
  { target, stats, text }: OldFile,
  scope: ToolScope,
): Promise<PlannedPart> {
  const { text: content, unifiedDiff: unified_diff } = applyChunks(text, chunks);
  if (content === text && movePath === undefined) throw new FileProblem("the patch changes nothing in it");
  if (movePath === undefined) {
    const file = { target, old: stats, like: stats, content };
    return { files: [file], change: { type: "update", unified_diff, move_path: null }, done: `M ${path}` };
  }
  const moved = await named(movePath, () => moveTarget(movePath, scope));
  const files = [
    { target, old: stats, like: undefined, content: undefined },
    { target: moved, old: undefined, like: stats, content },
  ];
  return { files, change: { type: "update", unified_diff, move_path: moved.realPath }, done: `M ${movePath}` };
}

async function moveTarget(path: string, scope: ToolScope): Promise<WriteTarget> {
  const target = await writeTarget(path, scope);
  await refuseExisting(target);
  return target;
}

async function refuseExisting({ realPath }: WriteTarget): Promise<void> {
  if ((await statExisting(realPath)) !== undefined)
    throw new FileProblem("the file already exists: update or delete it");
}

async function readOld(
  { realPath }: WriteTarget,
  maxSize: number,
  scope: ToolScope,
): Promise<Pick<OldFile, "stats" | "text">> {
  // The model gets none of the text; whether the file may be written is judged with the whole patch.
  const { file, realPath: opened, stats } = await openForModel(realPath, { privatePaths: scope.privatePaths });
  try {
    if (opened !== realPath) throw new FileProblem(targetChanged);
    if (stats.size > maxSize) throw new FileProblem(`the files of a patch can have at most ${maxBytes} bytes in total`);
    const bytes = await readAt(file, 0, Number(stats.size));
    if (bytes.includes(0) || !isUtf8(bytes)) throw new FileProblem("it is not UTF-8 text");
    return { stats, text: bytes.toString() };
  } finally {
    await file.close();
  }
}

function sizeOf({ files }: PlannedPart): number {
  return files.reduce((sum, { old, content = "" }) => sum + Number(old?.size ?? 0) + Buffer.byteLength(content), 0);
}

function refuseDoubles(files: readonly PlannedFile[]): void {
  const seen = new Set<string>();
  for (const { realPath } of files.map(({ target }) => target)) {
    if (seen.has(realPath)) throw new FileProblem(`${realPath} is listed twice: put all its changes in one place`);
    seen.add(realPath);
  }
}

/** Adds the file's path to an error, because a patch may concern many files. */
async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NamedProblem) throw error;
    throw new NamedProblem(`${path}: ${failureText(error)}`, { cause: error });
  }
}

class NamedProblem extends FileProblem {}
