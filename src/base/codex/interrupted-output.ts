/** The output of a call whose process died before its result was recorded: it may or may not have had its effect. */
export const interruptedOutput = "interrupted, result unknown";

/** Whether an output says so; more about the call may follow. */
export function isInterruptedOutput(output: string): boolean {
  return output === interruptedOutput || output.startsWith(`${interruptedOutput}\n`);
}
