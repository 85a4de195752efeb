// Kept apart from the schemas: short commands check ids without loading a schema library.

const pattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const prefix = "conv_";

/** Whether a text may become part of a path. */
export function isConversationId(text: string): boolean {
  return pattern.test(text);
}

/** The form people see and the file name has: `conv_` and the UUID; an id that is no UUID stays as it is. */
export function shownId(id: string): string {
  return uuid.test(id) ? prefix + id : id;
}

/** The form that stands inside a rollout: the bare UUID; an id that is no UUID stays as it is. */
export function bareId(id: string): string {
  const rest = id.slice(prefix.length);
  return id.startsWith(prefix) && uuid.test(rest) ? rest : id;
}
