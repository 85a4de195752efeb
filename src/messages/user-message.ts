interface MessageLike {
  readonly type: string;
  readonly role?: unknown;
  readonly content?: unknown;
}

/** What Codex puts into user messages that no person wrote; text that starts and ends like one of these is context. */
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
  ["<hook_prompt", "</hook_prompt>"],
];

/** Whether a person said it: role user, and no part of it is context. Loads no schema library. */
export function isRealUserMessage<T extends MessageLike>(
  item: T,
): item is Extract<T, { type: "message" }> & { role: "user" } {
  return isUserMessage(item) && !texts(item).some(isContextual);
}

/** A user message that only tells the model where it is. */
export function isContextMessage(item: MessageLike): boolean {
  return isUserMessage(item) && texts(item).some(isContextual);
}

function isUserMessage(item: MessageLike): boolean {
  return item.type === "message" && item.role === "user";
}

function texts(item: MessageLike): string[] {
  if (!Array.isArray(item.content)) return [];
  return item.content.flatMap((part: { text?: unknown } | null) => (typeof part?.text === "string" ? [part.text] : []));
}

function isContextual(text: string): boolean {
  const trimmed = text.trim();
  return contextual.some(
    ([start, end]) =>
      trimmed.slice(0, start.length).toLowerCase() === start && trimmed.slice(-end.length).toLowerCase() === end,
  );
}
