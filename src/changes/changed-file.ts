/** As git knows them: a file, one that can be run, a symbolic link whose content is where it leads. */
export type FileMode = "100644" | "100755" | "120000";

export interface FileVersion {
  readonly mode: FileMode;
  readonly bytes: Uint8Array;
}

/** A file as it was and as it is; without the first it was created, without the second deleted. */
export interface ChangedFile {
  readonly path: string;
  readonly before?: FileVersion | undefined;
  readonly after?: FileVersion | undefined;
}

/** So much of a file is looked at to see whether it is text, as git does. */
const lookedAtBytes = 8_000;

export function isBinary({ before, after }: ChangedFile): boolean {
  return [before, after].some((version) => version?.bytes.subarray(0, lookedAtBytes).includes(0) === true);
}
