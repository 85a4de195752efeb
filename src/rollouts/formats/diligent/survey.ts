import { ImportError } from "../../../messages/errors.js";
import { isRecord } from "../../../base/is-record.js";
import type { LineObject } from "../../file/line-object.js";
import { fieldsOf, saidText, textOf } from "../import/fields.js";
import type { Keeping } from "../import/kept-items.js";
import { Lineage } from "../import/lineage.js";
import type { Losses } from "../import/losses.js";
import { sourceLines } from "../import/source-file.js";
import type { SourceFacts, SourceFile } from "../import/source.js";

/** What a first look through a tree of entries tells; entries are meant by their position in the file. */
export interface EntrySurvey {
  readonly facts: SourceFacts;
  readonly onPath: readonly boolean[];
  readonly keepings: readonly Keeping[];
}

interface Compaction {
  readonly at: number;
  readonly firstKept: unknown;
}

export async function surveyEntries(file: SourceFile, losses: Losses): Promise<EntrySurvey> {
  const lineage = new Lineage();
  const compactions: Compaction[] = [];
  const facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] } = {};
  for await (const { number, value } of sourceLines(file, losses)) {
    noteFacts(facts, value);
    if (!isEntry(value)) continue;
    if (lineage.full) throw new ImportError(file.path, "it has too many entries");
    if (value.type === "compaction") {
      compactions.push({
        at: lineage.length,
        firstKept: value["firstKeptEntryId"] ?? indexKept(value["firstKeptEntryIndex"]),
      });
    }
    lineage.add({ id: textOf(value["id"]) ?? `line ${number}`, parent: parentOf(value) });
  }
  const onPath = lineage.path();
  return { facts, onPath, keepings: compactions.flatMap((compaction) => keeping(compaction, lineage, onPath)) };
}

/** The header is none. Nor are lines of Codex in it, which cody adds to a conversation it goes on with. */
export function isEntry(value: LineObject): boolean {
  return value.type !== "session" && value.type !== "session_meta";
}

/** What has no parent, as in the first version and in lines of Codex, follows the entry before it. */
function parentOf(value: LineObject): string | null | undefined {
  const parent = value["parentId"];
  return parent === null && "id" in value ? null : textOf(parent);
}

/** In the first version of pi an entry was meant by its place, the header being the first. */
function indexKept(index: unknown): number | undefined {
  return typeof index === "number" && Number.isSafeInteger(index) && index > 0 ? index - 1 : undefined;
}

function keeping({ at, firstKept }: Compaction, lineage: Lineage, onPath: readonly boolean[]): Keeping[] {
  const from = typeof firstKept === "string" ? lineage.positionOf(firstKept) : firstKept;
  if (typeof from !== "number" || from >= at || onPath[from] !== true) return [];
  return [{ at, from, keeps: (position) => onPath[position] === true }];
}

function noteFacts(facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] }, value: LineObject): void {
  if (value.type === "session") {
    facts.id ??= textOf(value["id"]);
    facts.createdAt ??= textOf(value["timestamp"]);
    facts.cwd ??= saidText(value["cwd"]);
  }
  const message = fieldsOf(value["message"]);
  const named = isRecord(value["message"]) && message["role"] === "assistant" ? message : value;
  const model = saidText(named["model"]) ?? saidText(named["modelId"]);
  if (facts.model !== undefined || model === undefined) return;
  facts.model = model;
  facts.provider ??= saidText(named["provider"]);
}
