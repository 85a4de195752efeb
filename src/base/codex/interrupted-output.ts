/** The output of a call whose process died before its result was recorded: it may or may not have had its effect. */
export const interruptedOutput = "interrupted, result unknown";
