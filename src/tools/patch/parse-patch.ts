import { FileProblem } from "../files/file-problem.js";

/** A here-document as some models write around a patch; group 2 is the word that ends it. */
const heredoc = /^(?:apply_patch\s+)?<<-?\s*(["']?)(\w+)\1$/;

const begin = "*** Begin Patch";
const end = "*** End Patch";
const endOfFile = "*** End of File";
const header = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const moveHeader = /^\*\*\* Move to: (.+)$/;
const contextHeader = /^@@(?: |$)/;
const anyHeader = /^(?:@@(?: |$)|\*\*\* )/;
/** Some models write the line numbers of a unified diff; they are not needed. */
const numbers = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?/;
const kinds: Readonly<Record<string, PatchLine["kind"]>> = { " ": "context", "-": "removed", "+": "added" };

/** Parses a patch in Codex's grammar; throws for anything else, and for a patch without an end. */
export function parsePatch(input: string): FilePatch[] {
  const lines = unwrapped(input);
  if (lines[0]?.trim() !== begin) throw new FileProblem(`the first line must be '${begin}'`);
  if (lines.length < 2 || lines.at(-1)?.trim() !== end) throw new FileProblem(`the last line must be '${end}'`);
  const files = new PatchReader(lines).files();
  if (files.length === 0) throw new FileProblem("the patch has no files");
  return files;
}

class PatchReader {
  readonly #lines: readonly string[];
  #at = 1;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  files(): FilePatch[] {
    const files: FilePatch[] = [];
    while (this.#at < this.#lines.length - 1) {
      if (this.#skipBlank()) continue;
      files.push(this.#file());
    }
    return files;
  }

  /** The last line is a header like others, so reading never goes beyond it. */
  get #line(): string {
    return this.#lines[this.#at] ?? end;
  }

  #skipBlank(): boolean {
    if (this.#line.trim() !== "") return false;
    this.#at += 1;
    return true;
  }

  #file(): FilePatch {
    const [, type, name = ""] = header.exec(this.#line.trim()) ?? [];
    if (type === undefined) this.#fail("expected '*** Add File: ', '*** Delete File: ' or '*** Update File: '");
    const path = this.#path(name);
    this.#at += 1;
    if (type === "Delete") return { type: "delete", path };
    return type === "Add" ? { type: "add", path, content: this.#addedText() } : this.#update(path);
  }

  #addedText(): string {
    const start = this.#at;
    while (this.#line.startsWith("+")) this.#at += 1;
    const lines = this.#lines.slice(start, this.#at);
    return lines.map((line) => `${line.slice(1)}\n`).join("");
  }

  #update(path: string): FilePatch {
    const target = moveHeader.exec(this.#line.trim())?.[1];
    const movePath = target === undefined ? undefined : this.#path(target);
    if (target !== undefined) this.#at += 1;
    const chunks: Chunk[] = [];
    while (!this.#line.trimStart().startsWith("*** ")) {
      if (this.#skipBlank()) continue;
      chunks.push(this.#chunk());
    }
    if (chunks.length === 0 && movePath === undefined) this.#fail(`no changes given for ${path}`);
    return { type: "update", path, movePath, chunks };
  }

  #chunk(): Chunk {
    const contexts: string[] = [];
    for (; contextHeader.test(this.#line); this.#at += 1) {
      const context = this.#line.slice("@@ ".length).replace(numbers, "");
      if (context.trim() !== "") contexts.push(context);
    }
    const lines = this.#chunkLines();
    const atEnd = this.#line.trim() === endOfFile;
    if (atEnd) this.#at += 1;
    return { contexts, lines, atEnd };
  }

  #chunkLines(): PatchLine[] {
    const start = this.#at;
    const lines: PatchLine[] = [];
    while (!anyHeader.test(this.#line)) {
      lines.push(this.#patchLine(this.#line));
      this.#at += 1;
    }
    // Completely empty lines at the end may only separate this chunk from the next.
    while (lines.length > 0 && this.#lines[start + lines.length - 1] === "") lines.pop();
    if (lines.length === 0) this.#fail("expected lines that start with ' ', '-' or '+'");
    return lines;
  }

  #patchLine(line: string): PatchLine {
    if (line === "") return { kind: "context", text: "" };
    const kind = kinds[line.charAt(0)];
    if (kind === undefined) this.#fail("expected a line that starts with ' ', '-' or '+'");
    return { kind, text: line.slice(1) };
  }

  #path(name: string): string {
    const path = name.trim();
    if (path === "" || path.includes("\0")) this.#fail("expected a path, without NUL");
    return path;
  }

  #fail(expected: string): never {
    throw new FileProblem(`line ${this.#at + 1} of the patch: ${expected}`);
  }
}

/** The lines of a patch, without the shell command that some models write around it. */
function unwrapped(input: string): string[] {
  const lines = input.trim().split(/\r?\n/);
  const word = heredoc.exec(lines[0]?.trim() ?? "")?.[2];
  return word !== undefined && lines.at(-1)?.trim() === word ? lines.slice(1, -1) : lines;
}

export interface PatchLine {
  readonly kind: "context" | "removed" | "added";
  readonly text: string;
}

/** A place in a file and its changes. */
export interface Chunk {
  /** Lines before the place, each after the previous one. */
  readonly contexts: readonly string[];
  readonly lines: readonly PatchLine[];
  /** Whether its lines are the last of the file. */
  readonly atEnd: boolean;
}

export interface FileUpdate {
  readonly type: "update";
  readonly path: string;
  readonly movePath: string | undefined;
  readonly chunks: readonly Chunk[];
}

/** The part of a patch about one file. */
export type FilePatch =
  | { readonly type: "add"; readonly path: string; readonly content: string }
  | { readonly type: "delete"; readonly path: string }
  | FileUpdate;
