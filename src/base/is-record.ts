/** Whether a value is an object with names: one of JSON, a table of a configuration. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
