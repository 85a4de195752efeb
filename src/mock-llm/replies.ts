import type { ModelRequest } from "../messages/model.js";
import { offlineReply } from "../providers/offline/reply.js";
import type { MockReply, MockScript } from "./script.js";

/** The source of replies. Returns undefined when the script has no more. */
export type Replies = (session: string, request: () => ModelRequest) => MockReply | undefined;

export const offlineReplies: Replies = (_session, request) => {
  const asked = request();
  const reply = offlineReply(asked);
  if (reply.type === "text") return { text: reply.text };
  const { name, arguments: args } = reply;
  const isFreeform = asked.tools.some((tool) => tool.name === name && tool.freeform === true);
  return { calls: [isFreeform ? { name, input: String(args["input"]) } : { name, arguments: args }] };
};

/** Only this many sessions are remembered; the oldest then starts from the beginning again. */
const maxSessions = 100_000;

export function scriptedReplies({ replies, per = "server", afterLast = "error" }: MockScript): Replies {
  const places = new Map<string, number>();
  const listOf = bySession(replies);
  return (session, request) => {
    const [key, list] = listOf(session, per);
    const place = places.get(key) ?? 0;
    const reply = list[afterLast === "repeat" ? place % list.length : place];
    if (reply === undefined) return afterLast === "offline" ? offlineReplies(session, request) : undefined;
    places.set(key, place + 1);
    const oldest = places.size > maxSessions ? places.keys().next().value : undefined;
    if (oldest !== undefined) places.delete(oldest);
    return reply;
  };
}

/** A session named in the script has its own list; all others use the replies without a session. */
function bySession(replies: readonly MockReply[]) {
  const named = new Map<string | undefined, MockReply[]>();
  for (const reply of replies) named.set(reply.session, [...(named.get(reply.session) ?? []), reply]);
  const common = named.get(undefined) ?? [];
  return (session: string, per: "server" | "session"): [key: string, list: readonly MockReply[]] => {
    const own = named.get(session);
    if (own !== undefined) return [`own ${session}`, own];
    return [per === "session" ? `each ${session}` : "all", common];
  };
}
