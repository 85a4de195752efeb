import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonOrUndefined } from "../../base/parse.js";
import type { ChangeRecord, OpenSnapshot } from "../../messages/tools/change-record.js";
import { systemCode } from "../../base/system-error.js";
import { ContentStore, hashOf, namesIn, writeAtomically } from "./content-store.js";

const recordName = /^(\d{6})\.json$/;
const openName = "open.json";

export interface NumberedRecord extends ChangeRecord {
  readonly number: number;
}

/** A written record: its number and the hash of its bytes. */
export interface WrittenRecord {
  readonly number: number;
  readonly id: string;
}

/** The folder beside a rollout that stores the changes of its conversation's turns and the contents before them. */
export class ChangeFolder {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Total size of the stored files. */
  get bytes(): number {
    return namesIn(this.folder).reduce((sum, name) => sum + (sizeOf(join(this.folder, name)) ?? 0), 0);
  }

  /** Returns the snapshot of a turn that is running, or was when its process died; undefined if it cannot be read. */
  async open(): Promise<OpenSnapshot | undefined> {
    const text = textOf(join(this.folder, openName));
    if (text === undefined) return undefined;
    const schema = await import("../../messages/tools/change-record.js");
    return schema.OpenSnapshot.safeParse(jsonOrUndefined(text)).data;
  }

  begin(snapshot: OpenSnapshot): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeAtomically(join(this.folder, openName), JSON.stringify(snapshot));
  }

  end(): void {
    rmSync(join(this.folder, openName), { force: true });
  }

  /** Stores a record under the next free number. The contents it refers to must be stored already. */
  add(record: ChangeRecord): WrittenRecord {
    const text = `${JSON.stringify(record)}\n`;
    const temporary = join(this.folder, `${randomBytes(8).toString("hex")}.tmp`);
    try {
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
      for (let number = (this.#numbers().at(-1) ?? 0) + 1; ; number += 1) {
        if (linked(temporary, join(this.folder, fileName(number)))) return { number, id: hashOf(Buffer.from(text)) };
      }
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  contents(): ContentStore {
    return new ContentStore(this.folder);
  }

  /** Returns every readable record, oldest first. */
  async records(): Promise<NumberedRecord[]> {
    const schema = await import("../../messages/tools/change-record.js");
    return this.#numbers().flatMap((number) => {
      const text = textOf(join(this.folder, fileName(number)));
      const { data } = schema.ChangeRecord.safeParse(text === undefined ? undefined : jsonOrUndefined(text));
      return data === undefined ? [] : [{ ...data, number }];
    });
  }

  #numbers(): number[] {
    const found = namesIn(this.folder).flatMap((name) => recordName.exec(name)?.[1] ?? []);
    return found.map(Number).toSorted((a, b) => a - b);
  }
}

export function isRecordFile(name: string): boolean {
  return name === openName || recordName.test(name);
}

function fileName(number: number): string {
  return `${String(number).padStart(6, "0")}.json`;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Returns whether the name was free. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}
