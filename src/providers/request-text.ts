import { keptFor } from "../base/memoize.js";

const toolText = keptFor((tool: object) => JSON.stringify(tool));

/** The text of a request. Its tools are the same in every request, and mostly longer than the rest. */
export function requestText(body: { readonly tools?: readonly object[] | undefined }): string {
  const { tools, ...rest } = body;
  const text = JSON.stringify(rest);
  return tools === undefined ? text : `${text.slice(0, -1)},"tools":[${tools.map(toolText).join(",")}]}`;
}
