import { systemCode } from "../system-error.js";

/** Whether there is no process of this number any more; what is no number of a process has none. */
export function isProcessDead(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
}
