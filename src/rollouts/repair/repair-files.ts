import { link, rename, rm } from "node:fs/promises";
import { type FileSystem, nodeFileSystem } from "../file/file-system.js";

/** The calls that replacing a rollout needs besides those for writing one. */
export interface RepairFiles extends FileSystem {
  /** Refuses a name that is taken. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** It need not be there. */
  remove(path: string): Promise<void>;
}

export const nodeRepairFiles: RepairFiles = {
  ...nodeFileSystem,
  link,
  rename,
  remove: (path) => rm(path, { force: true }),
};
