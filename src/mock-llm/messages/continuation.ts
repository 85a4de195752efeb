import type { IncomingHttpHeaders } from "node:http";
import { isGiven, objectOf, objectsOf } from "../json.js";
import type { Continuation } from "../memory.js";

/** A thread, which is a beta: what was said, the system and the tools stay with the server. */
export const continuation: Continuation = {
  anchorIn: ({ thread }) => {
    const { type, previous_message_id: id } = objectOf(thread);
    return type === "continue" && typeof id === "string" ? id : undefined;
  },
  lost: (id) => ({
    status: 404,
    message: `thread: no thread found for previous_message_id ${id}`,
    details: { error_code: "thread_not_found" },
  }),
  joined: (kept, body) => ({
    ...kept,
    ...body,
    messages: [...objectsOf(kept["messages"]), ...objectsOf(body["messages"])],
  }),
  isKept: ({ thread }) => isGiven(thread),
  answered: ({ system, tools, messages }, content) => ({
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages: [...objectsOf(messages), ...(content.length === 0 ? [] : [{ role: "assistant", content }])],
  }),
};

/** Without the beta nobody knows of threads. */
export function takesThreads({ "anthropic-beta": betas }: IncomingHttpHeaders): boolean {
  return String(betas ?? "").includes("message-threads-");
}
