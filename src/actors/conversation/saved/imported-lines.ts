import { v7 as uuidv7 } from "uuid";
import { shortName } from "../../../messages/conversation-name.js";
import { ImportError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { encodeLine } from "../../../rollouts/file/encode.js";
import { Turns } from "../../../rollouts/formats/export/turns.js";
import type { Source } from "../../../rollouts/formats/import/source.js";
import { TurnLines, type TurnLinesParts } from "../../../rollouts/formats/import/turn-lines.js";
import { maxLineBytes } from "../../../rollouts/file/line-object.js";
import type { ImportedConversation } from "./import-options.js";

/** What comes before the first thing said is kept back until it is known that something is said. */
const maxLinesBefore = 10_000;

/** One source on its way into lines. */
export class Carrying {
  readonly #source: Source;
  readonly #writer: TurnLines;
  /** Counts as an export does. */
  readonly #turns = new Turns({ remembersItems: false });
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

  /** The lines up to the first thing said; rejects when nothing is. */
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

  /** The file is closed, also when it was not read to its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return(undefined);
  }

  /** When it began: as it says itself, else when the first thing was said. A time nobody can have meant is none. */
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

  /** A line that nobody could read again is not written. */
  #fitting(lines: readonly OwnLine[]): OwnLine[] {
    return lines.filter((line) => {
      const fits = Buffer.byteLength(encodeLine(line)) <= maxLineBytes;
      if (!fits) this.#source.losses.count("too_long");
      return fits;
    });
  }
}

const earliestTime = Date.parse("2000-01-01T00:00:00Z");

/** Only a whole path says where something was. */
export function folderOf({ facts }: Source): string {
  return facts.cwd?.startsWith("/") === true ? facts.cwd : "/";
}

function nothingFound({ format, losses }: Source): string {
  const { damagedCount } = losses.report();
  const damaged = damagedCount === 0 ? "" : `; ${damagedCount} of its lines cannot be read`;
  return `there is no conversation in it that could be read as ${format}${damaged}`;
}
