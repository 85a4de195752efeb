/** Reading what a server sent without trusting it; a schema for each of a thousand deltas would cost more than they do. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text under a name, empty when there is none. */
export function textAt(record: Record<string, unknown>, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}
