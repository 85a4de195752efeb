import { EmptyRolloutError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ExportFormat } from "./export-format.js";
import { writeCodex } from "../codex/write.js";
import { writeDiligent } from "../diligent/write.js";
import { writeEnvoy } from "../envoy/write.js";
import { exportName } from "./export-name.js";
import { writeHtml } from "../html/write.js";
import { writeJson } from "../json/write.js";
import { writeMarkdown } from "../markdown/write.js";
import { surveyConversation, type WriterInput } from "./export-facts.js";

const pieceChars = 64 * 1024;

/** A conversation to export. It is read twice: once for the survey, once to write it. */
interface ExportSource {
  readonly conversationId: string;
  read(): AsyncIterable<readonly OwnLine[]>;
}

/** A conversation in another format, as consecutive pieces of one text. It can be iterated only once. */
export interface ExportedConversation extends AsyncIterable<string> {
  readonly conversationId: string;
  readonly format: ExportFormat;
  readonly title: string;
  /** Suggests a file name; `attempt` counts from 1 and avoids names that are taken. */
  fileName(attempt?: number): string;
  /** Number of things that the format cannot represent, by kind; complete after the last piece. */
  readonly left: ReadonlyMap<string, number>;
}

const writers: Record<ExportFormat, (writing: WriterInput) => AsyncIterable<string>> = {
  markdown: writeMarkdown,
  html: writeHtml,
  json: writeJson,
  codex: writeCodex,
  envoy: writeEnvoy,
  diligent: writeDiligent,
};

/** Exports a conversation. Rejects when it is empty or cannot be read to its end. */
export async function exportLines(source: ExportSource, format: ExportFormat): Promise<ExportedConversation> {
  const known = await surveyConversation(source.conversationId, source.read());
  if (known.headings.length === 0) throw new EmptyRolloutError(source.conversationId);
  const left = new Map<string, number>();
  const leave = (kind: string): void => void left.set(kind, (left.get(kind) ?? 0) + 1);
  return {
    conversationId: source.conversationId,
    format,
    title: known.title,
    fileName: (attempt = 1) => exportName(known, format, attempt),
    left,
    [Symbol.asyncIterator]: () =>
      joined(writers[format]({ survey: known, batches: first(known.lines, source.read()), leave }))[
        Symbol.asyncIterator
      ](),
  };
}

/** Yields only the first `count` lines, because another process may be appending to the conversation. */
async function* first(count: number, batches: AsyncIterable<readonly OwnLine[]>): AsyncGenerator<readonly OwnLine[]> {
  let left = count;
  for await (const batch of batches) {
    yield batch.slice(0, left);
    left -= batch.length;
    if (left <= 0) return;
  }
}

/** Joins small pieces, because passing many of them on takes longer than creating them. */
async function* joined(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting: string[] = [];
  let length = 0;
  for await (const text of texts) {
    waiting.push(text);
    length += text.length;
    if (length < pieceChars) continue;
    yield waiting.join("");
    waiting = [];
    length = 0;
  }
  if (length > 0) yield waiting.join("");
}
