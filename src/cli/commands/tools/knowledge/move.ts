import { resolve } from "node:path";
import { knowledgeLines } from "../../../../actors/knowledge/knowledge-lines.js";
import { NotRegularError, readRegular, TooLargeError } from "../../../../base/fs/open-regular.js";
import { systemCode } from "../../../../base/system-error.js";
import { counted } from "../../../format/age.js";
import { CommandError, exitCodes, usageError } from "../../../command-error.js";
import { type ContextOf, printResult } from "../../../context.js";
import { FileExistsError, writeNewFile } from "../../transfer/new-file.js";
import { watchSignals } from "../../../terminal/interruption.js";
import { readAll } from "../../../terminal/read-input.js";
import { readEntries, openProjectStore, saveOrExplain } from "./project-store.js";

const maxImportBytes = 16 * 1024 * 1024;

/** Prints all entries, one per line, or writes them into a new file. */
export async function exportKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const { args, flags, terminal } = context;
  if (args.length > 0) throw usageError("Usage: cody knowledge export [--output <file>]");
  const entries = await readEntries(context, await openProjectStore(context));
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  if (flags.output === undefined || flags.output === "-") {
    await terminal.stdout.writeExact(flags.json ? `${JSON.stringify(entries)}\n` : text);
    return 0;
  }
  const path = resolve(terminal.cwd, flags.output);
  using interruption = watchSignals(terminal);
  try {
    await writeNewFile(pieces(text), (attempt) => (attempt === 1 ? path : undefined), interruption.signal);
  } catch (error) {
    if (error instanceof FileExistsError) throw new CommandError(error.message, exitCodes.failed);
    throw error;
  }
  await printResult(context, { text: `✓ Exported to: ${path}`, json: { path, entries: entries.length } });
  return 0;
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

/** Imports the entries of a file, or with - of stdin; known entries are skipped. */
export async function importKnowledge(context: ContextOf<"knowledge">): Promise<number> {
  const [path, ...others] = context.args;
  if (path === undefined || others.length > 0) throw usageError("Usage: cody knowledge import <file or ->");
  const lines = knowledgeLines(
    path === "-" ? await readImportInput(context) : await textOf(resolve(context.terminal.cwd, path)),
  );
  const entries = lines.flatMap(({ entry }) => entry ?? []);
  const unknown = lines.find(({ entry }) => entry === undefined);
  const passedOver = lines.length - entries.length;
  if (unknown !== undefined) {
    await context.tell(
      `Skipped ${counted(passedOver, "line")} with invalid knowledge; the first is line ${unknown.number}`,
    );
  }
  const store = await openProjectStore(context);
  const imported = await saveOrExplain(() => store.import(entries));
  const known = entries.length - imported.length;
  const text = `✓ Imported ${imported.length} of ${entries.length}${known === 0 ? "" : `; ${known} already saved`}`;
  await printResult(context, { text, json: { imported: imported.map(({ id }) => id), known, passedOver } });
  return 0;
}

async function readImportInput({ terminal }: ContextOf<"knowledge">): Promise<string> {
  using interruption = watchSignals(terminal);
  return await readAll(terminal.stdin, interruption.signal);
}

async function textOf(path: string): Promise<string> {
  try {
    return (await readRegular(path, { links: "follow", maxBytes: maxImportBytes })).toString();
  } catch (error) {
    if (error instanceof NotRegularError) throw new CommandError(error.message, exitCodes.failed);
    if (error instanceof TooLargeError) {
      throw new CommandError(`${path} is larger than ${maxImportBytes} bytes`, exitCodes.failed);
    }
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new CommandError(`Cannot read ${path}: ${code}`, exitCodes.failed);
  }
}
