import { isRecord } from "../base/is-record.js";

/** What a web search looked for, as Codex puts it: a query, an address, or a text in a page. Empty if unknown. */
export function webSearchQuery(action: unknown): string {
  if (!isRecord(action)) return "";
  const { query, queries, url, pattern } = action;
  if (typeof query === "string" && query !== "") return query;
  if (Array.isArray(queries)) return queries.filter((one) => typeof one === "string").join(", ");
  if (typeof pattern === "string") return typeof url === "string" ? `'${pattern}' in ${url}` : `'${pattern}'`;
  return typeof url === "string" ? url : "";
}

/** The same as a short sentence without its subject. */
export function webSearchText(action: unknown): string {
  const query = webSearchQuery(action);
  if (query === "") return "Searched the web";
  const type = isRecord(action) ? action["type"] : undefined;
  if (type === "open_page") return `Opened the web page ${query}`;
  return type === "find_in_page" ? `Looked for ${query}` : `Searched the web for: ${query}`;
}
