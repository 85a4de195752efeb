import { systemCode } from "../system-error.js";

/** True if no process has this pid, or if the number cannot be a pid. */
export function isProcessDead(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
}
