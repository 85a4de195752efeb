import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeDirectory } from "../base/fs/make-directory.js";
import { processStartTime, processState } from "../base/process/process-state.js";

const prefix = "cody-sandbox-";

const recordName = /^(\d+)\.(\d*)\.[0-9a-f-]+\.temporary$/;

/** The temporary folders of conversations, which commands see as /tmp. */
export class TemporaryFolders {
  readonly #parent: string;
  readonly #records: string;
  readonly #folders = new Map<string, Promise<{ readonly path: string; readonly record: string }>>();

  /** Folders are created in `parent`; `records` is a folder that lists them, in case this process is killed. */
  constructor(parent: string, records: string) {
    this.#parent = parent;
    this.#records = records;
  }

  /** The real path of a conversation's folder, which is created for its first command. */
  async of(conversationId: string): Promise<string> {
    let folder = this.#folders.get(conversationId);
    if (folder === undefined) this.#folders.set(conversationId, (folder = this.#create()));
    // Tried again by the next command.
    folder.catch(() => this.#folders.delete(conversationId));
    return (await folder).path;
  }

  async removeAll(): Promise<void> {
    const folders = await Promise.allSettled(this.#folders.values());
    this.#folders.clear();
    await Promise.all(
      folders.map(async (folder) => {
        if (folder.status === "fulfilled") await removeRecorded(folder.value.path, folder.value.record);
      }),
    );
  }

  /** Removes the folders of processes that were killed. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#records).catch(() => []);
    await Promise.all(
      names.map(async (name) => {
        const [, pid, startTime = ""] = recordName.exec(name) ?? [];
        if (pid === undefined || (await processState(Number(pid), startTime)) !== "gone") return;
        const record = join(this.#records, name);
        const path = await readFile(record, "utf8").catch(() => "");
        await removeRecorded(path, record);
      }),
    );
  }

  async #create(): Promise<{ readonly path: string; readonly record: string }> {
    await makeDirectory(this.#records);
    const id = randomUUID();
    const path = join(await realpath(this.#parent), `${prefix}${id}`);
    const startTime = await processStartTime(process.pid);
    const record = join(this.#records, `${process.pid}.${startTime}.${id}.temporary`);
    // The record first, so that the folder is found if this process is killed in between.
    await writeFile(record, path, { mode: 0o600 });
    await mkdir(path, { mode: 0o700 });
    return { path, record };
  }
}

/** A record that was cut off by a crash names no folder. */
async function removeRecorded(path: string, record: string): Promise<void> {
  const isOurs = path.startsWith("/") && basename(path).startsWith(prefix);
  if (isOurs) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  await rm(record, { force: true });
}
