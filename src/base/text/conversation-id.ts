// Separate from the schemas, so that short commands check ids without loading the schema library.

const pattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const prefix = "conv_";

/** True if the text is an id that is safe as part of a path. */
export function isConversationId(text: string): boolean {
  return pattern.test(text);
}

/** The form shown to people and used in file names: `conv_` and the UUID. Other ids are returned unchanged. */
export function shownId(id: string): string {
  return uuid.test(id) ? prefix + id : id;
}

/** The form stored inside a rollout: the bare UUID. Other ids are returned unchanged. */
export function bareId(id: string): string {
  const rest = id.slice(prefix.length);
  return id.startsWith(prefix) && uuid.test(rest) ? rest : id;
}
