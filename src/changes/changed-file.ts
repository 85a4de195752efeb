/** File modes of git: regular file, executable file, and symbolic link, whose content is its target. */
export type FileMode = "100644" | "100755" | "120000";

export interface FileVersion {
  readonly mode: FileMode;
  readonly bytes: Uint8Array;
}

/** A file before and after a change; without `before` it was created, without `after` it was deleted. */
export interface ChangedFile {
  readonly path: string;
  readonly before?: FileVersion | undefined;
  readonly after?: FileVersion | undefined;
}

/** Number of leading bytes checked for a NUL to detect binary files, as in git. */
const lookedAtBytes = 8_000;

export function isBinary({ before, after }: ChangedFile): boolean {
  return [before, after].some((version) => version?.bytes.subarray(0, lookedAtBytes).includes(0) === true);
}
