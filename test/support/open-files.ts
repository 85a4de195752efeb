import { readdirSync, readlinkSync } from "node:fs";

/** The files in a folder that this process has open, deleted ones too; descriptors of anything else come and go. */
export function openFilesIn(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}
