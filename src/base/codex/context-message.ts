interface MessageLike {
  readonly type: string;
  readonly role?: unknown;
  readonly content?: unknown;
}

/** Start and end of texts that Codex itself puts into user messages. Texts that match are context. */
const contextual: readonly (readonly [start: string, end: string])[] = [
  ["# agents.md instructions", "</instructions>"],
  ["<user_instructions>", "</user_instructions>"],
  ["<environment_context>", "</environment_context>"],
  ["<user_shell_command>", "</user_shell_command>"],
  ["<turn_aborted>", "</turn_aborted>"],
  ["<subagent_notification>", "</subagent_notification>"],
  ["<skill>", "</skill>"],
  ["<recommended_plugins>", "</recommended_plugins>"],
  ["<codex_internal_context", "</codex_internal_context>"],
  ["<goal_context>", "</goal_context>"],
  ["<hook_prompt", "</hook_prompt>"],
  ["warning: the maximum number of unified exec processes you can keep open is", ""],
  ["warning: apply_patch was requested via ", "use the apply_patch tool instead of exec_command."],
  ["warning: your account was flagged for potentially high-risk cyber activity", ""],
];

/** True for a `user` message without context parts, so written by a person. Does not load the schema library. */
export function isRealUserMessage<T extends MessageLike>(
  item: T,
): item is Extract<T, { type: "message" }> & { role: "user" } {
  return isUserMessage(item) && !texts(item).some(isContextual);
}

/** True for a user message that only describes the model's environment. */
export function isContextMessage(item: MessageLike): boolean {
  return isUserMessage(item) && texts(item).some(isContextual);
}

/** The kinds of the context parts, each by its first characters; undefined if a person wrote the message. */
export function contextKind(item: MessageLike): string | undefined {
  if (!isUserMessage(item)) return undefined;
  const kinds = texts(item).flatMap((text) => kindOf(text) ?? []);
  return kinds.length === 0 ? undefined : kinds.join(" ");
}

function isUserMessage(item: MessageLike): boolean {
  return item.type === "message" && item.role === "user";
}

function texts(item: MessageLike): string[] {
  if (!Array.isArray(item.content)) return [];
  return item.content.flatMap((part: { text?: unknown } | null) => (typeof part?.text === "string" ? [part.text] : []));
}

function isContextual(text: string): boolean {
  return kindOf(text) !== undefined;
}

function kindOf(text: string): string | undefined {
  const trimmed = text.trim();
  // Called for every item of a long history, so most texts are rejected by their first character.
  if (!/^[#<w]/i.test(trimmed)) return undefined;
  const known = contextual.find(([start, end]) => beginsWith(trimmed, start) && endsWith(trimmed, end));
  return known?.[0] ?? externalKind(trimmed);
}

function beginsWith(text: string, start: string): boolean {
  return text.slice(0, start.length).toLowerCase() === start;
}

function endsWith(text: string, end: string): boolean {
  return text.slice(text.length - end.length).toLowerCase() === end;
}

/** Matches messages that other programs sent through Codex, in tags they named. */
function externalKind(text: string): string | undefined {
  if (!text.startsWith("<external_")) return undefined;
  const end = text.indexOf(">");
  return end !== -1 && text.endsWith(`</${text.slice(1, end)}>`) ? text.slice(0, end + 1) : undefined;
}
