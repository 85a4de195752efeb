import { bareId } from "../../../base/text/conversation-id.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { applyToHistory } from "../../file/history.js";
import type { WriterInput, ExportFacts } from "../export/export-facts.js";
import { type PlainPart, plainPart } from "../export/parts.js";

/**
 * Writes AI SDK messages, one per line. The format knows neither compactions nor rollbacks, so only the current
 * history is written.
 */
export async function* writeEnvoy({ survey, batches, leave }: WriterInput): AsyncGenerator<string> {
  const sessionId = bareId(survey.conversationId);
  let messageIndex = 0;
  const line = (timestamp: string, messageType: "conversation" | "session-meta", message: object): string => {
    const text = `${JSON.stringify({ timestamp, messageIndex, message, sessionId, messageType })}\n`;
    messageIndex += 1;
    return text;
  };
  yield line(survey.createdAt, "session-meta", sessionStart(survey));
  const { history, timeOf } = await historyOf(batches);
  for (const { at, message } of messagesOf(history, leave)) {
    yield line(timeOf(at) ?? survey.lastUpdated, "conversation", message);
  }
}

function sessionStart({ createdAt, provider, model, meta }: ExportFacts): object {
  const commit = meta?.git?.commit_hash ?? undefined;
  return {
    type: "session-start",
    timestamp: createdAt,
    projectPath: meta?.cwd ?? "/",
    provider: provider ?? "unknown",
    ...(model === undefined ? {} : { model }),
    ...(commit === undefined ? {} : { gitCommit: commit }),
  };
}

interface TimedHistory {
  readonly history: readonly ResponseItem[];
  /** Time at which an item was added to the history. */
  readonly timeOf: (item: ResponseItem) => string | undefined;
}

async function historyOf(batches: AsyncIterable<readonly OwnLine[]>): Promise<TimedHistory> {
  const history: ResponseItem[] = [];
  const times = new WeakMap<ResponseItem, string>();
  for await (const batch of batches) {
    for (const line of batch) {
      applyToHistory(history, line);
      const added = line.type === "response_item" ? history.slice(-1) : isReplacing(line) ? history : [];
      for (const item of added) if (!times.has(item)) times.set(item, line.timestamp);
    }
  }
  return { history, timeOf: (item) => times.get(item) };
}

function isReplacing({ type }: OwnLine): boolean {
  return type === "compacted" || type === "cody";
}

interface Message {
  readonly at: ResponseItem;
  readonly message: object;
}

function* messagesOf(history: readonly ResponseItem[], leave: (kind: string) => void): Generator<Message> {
  const parts = history.map((item) => plainPart(item, leave));
  const answered = new Set(parts.flatMap((part) => (part?.type === "answered" ? [part.id] : [])));
  const names = new Map(parts.flatMap((part) => (part?.type === "called" ? [[part.id, part.name] as const] : [])));
  for (let index = 0; index < history.length; index += 1) {
    const [at, part, next] = [history[index], parts[index], parts[index + 1]];
    if (at === undefined || part === undefined) continue;
    if (part.type === "called" && next?.type === "answered" && next.id === part.id) {
      yield { at, message: finishedCall(part, next.output) };
      index += 1;
    } else if (part.type === "called" && !answered.has(part.id)) {
      // The format cannot represent a call that was never finished.
      leave("call without a result");
    } else {
      yield { at, message: messageOf(part, names) };
    }
  }
}

type Called = Extract<PlainPart, { type: "called" }>;

function finishedCall({ id, name, input }: Called, output: string): object {
  return {
    role: "tool",
    content: `Tool call: ${name}`,
    toolName: name,
    toolArgs: input,
    toolCallId: id,
    toolResult: output,
  };
}

/** Writes calls whose results do not follow immediately in the SDK's own form. */
function messageOf(part: PlainPart, names: ReadonlyMap<string, string>): object {
  switch (part.type) {
    case "message":
      return { role: part.role, content: part.text };
    case "thought":
      return {
        role: "assistant",
        content: part.text,
        thinking: true,
        isThinkingComplete: true,
        ...(part.signature === undefined ? {} : { thinkingSignature: part.signature }),
      };
    case "called": {
      const { id: toolCallId, name: toolName, input: args } = part;
      return { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, args }] };
    }
    case "answered":
      break;
  }
  const { id: toolCallId, output: result } = part;
  const toolName = names.get(toolCallId) ?? "";
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, result }] };
}
