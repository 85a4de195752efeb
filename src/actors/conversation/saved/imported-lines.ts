import { v7 as uuidv7 } from "uuid";
import { shortName } from "../../../base/text/conversation-name.js";
import { ImportError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { encodeLine } from "../../../rollouts/file/encode.js";
import { TurnCollector } from "../../../rollouts/formats/export/turns.js";
import type { Source } from "../../../rollouts/formats/import/source.js";
import { TurnLines, type TurnLinesParts } from "../../../rollouts/formats/import/turn-lines.js";
import { maxLineBytes } from "../../../rollouts/file/line-object.js";
import type { ImportedConversation } from "./import-options.js";

/** Maximum number of lines held back before the first message, until it is known that there is one. */
const maxLinesBefore = 10_000;

/** Converts one source into rollout lines. */
export class ImportedLines {
  readonly #source: Source;
  readonly #writer: TurnLines;
  /** Counts turns in the same way as an export does. */
  readonly #turns = new TurnCollector({ remembersItems: false });
  readonly #lines: AsyncGenerator<OwnLine>;
  name: string | undefined;

  constructor(parts: Pick<TurnLinesParts, "thoughts" | "knownProvider">, source: Source) {
    this.#source = source;
    const { losses, facts } = source;
    this.#writer = new TurnLines({
      losses,
      cwd: folderOf(source),
      thoughts: parts.thoughts,
      newId: uuidv7,
      knownProvider: (name) => parts.knownProvider(name),
    });
    const { provider } = facts;
    const isLost = provider !== undefined && provider !== "unknown" && parts.knownProvider(provider) === undefined;
    if (isLost) losses.count("provider");
    this.#lines = this.#carried();
  }

  /** Returns the lines up to the first message; rejects when there is none. */
  async begin(): Promise<OwnLine[]> {
    const before: OwnLine[] = [];
    while (before.length < maxLinesBefore) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new ImportError(this.#source.file.path, nothingFound(this.#source));
      before.push(value);
      if (value.type === "response_item" || value.type === "compacted") break;
    }
    return before;
  }

  async rest(take: (line: OwnLine) => Promise<void>): Promise<void> {
    for await (const line of this.#lines) await take(line);
  }

  /** Closes the file, even if it was not read to its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return(undefined);
  }

  /** Returns the source's own start time, else that of its first line; implausible times are ignored. */
  createdAt(before: readonly OwnLine[], now: Date): Date {
    const times = [this.#source.facts.createdAt, before[0]?.timestamp].map((time) => Date.parse(time ?? ""));
    return new Date(times.find((time) => time > earliestTime && time <= now.getTime()) ?? now.getTime());
  }

  result(
    status: ImportedConversation["status"],
    path: string,
    conversationId: string,
    rolloutPath: string | null,
  ): ImportedConversation {
    const { format, losses } = this.#source;
    const { items } = this.#writer;
    const turns = this.#turns.count;
    const name = this.name === undefined ? {} : { name: this.name };
    return { status, path, format, conversationId, rolloutPath, ...name, turns, items, losses: losses.report() };
  }

  async *#carried(): AsyncGenerator<OwnLine> {
    for await (const record of this.#source.records) {
      if (record.type === "named") this.name = shortName(record.name) ?? this.name;
      else yield* this.#counted(this.#fitting(this.#writer.linesOf(record)));
    }
    yield* this.#counted(this.#writer.end());
  }

  #counted(lines: readonly OwnLine[]): readonly OwnLine[] {
    for (const line of lines) this.#turns.add(line);
    return lines;
  }

  /** Drops lines that would be too long to be read back. */
  #fitting(lines: readonly OwnLine[]): OwnLine[] {
    return lines.filter((line) => {
      const fits = Buffer.byteLength(encodeLine(line)) <= maxLineBytes;
      if (!fits) this.#source.losses.count("too_long");
      return fits;
    });
  }
}

const earliestTime = Date.parse("2000-01-01T00:00:00Z");

/** Only an absolute path identifies the folder. */
export function folderOf({ facts }: Source): string {
  return facts.cwd?.startsWith("/") === true ? facts.cwd : "/";
}

function nothingFound({ format, losses }: Source): string {
  const { damagedCount } = losses.report();
  const damaged = damagedCount === 0 ? "" : `; ${damagedCount} of its lines cannot be read`;
  return `no readable ${format} conversation in it${damaged}`;
}
