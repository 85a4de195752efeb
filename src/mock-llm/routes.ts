import type { IncomingHttpHeaders } from "node:http";
import { chatApi } from "./chat/api.js";
import { messagesApi } from "./messages/api.js";
import { responsesApi } from "./responses/api.js";
import type { MockApi } from "./wire-api.js";

const routes: Readonly<Record<string, MockApi>> = {
  "/responses": responsesApi,
  "/chat/completions": chatApi,
  "/messages": messagesApi,
};

/** The wire API behind a path, with or without `/v1`. */
export function apiAt(path: string): MockApi | undefined {
  return routes[path.replace(/^\/v1(?=\/)/, "")];
}

/** Who says no where there is no API: the one the client believes it speaks to. */
export function nearestApi(headers: IncomingHttpHeaders): MockApi {
  return headers["anthropic-version"] === undefined ? responsesApi : messagesApi;
}
