import { link, rename, rm } from "node:fs/promises";
import { type FileSystem, nodeFileSystem } from "../file/file-system.js";

/** The system calls needed to replace a rollout, in addition to those for writing one. */
export interface RepairFiles extends FileSystem {
  /** Fails if the name is taken. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Succeeds if the file does not exist. */
  remove(path: string): Promise<void>;
}

export const nodeRepairFiles: RepairFiles = {
  ...nodeFileSystem,
  link,
  rename,
  remove: (path) => rm(path, { force: true }),
};
