import { expect } from "vitest";
import { messageText, type ResponseItem } from "../../src/messages/response-item.js";
import type { LoggedRequest } from "../../src/mock-llm/respond.js";

/** The input of a request, without ids and other fields that are not shown to the model. */
export function inputOf(requests: readonly LoggedRequest[], at: number): unknown[] {
  const body = requests.at(at)?.body as { readonly input: readonly ResponseItem[] } | undefined;
  return (body?.input ?? []).map(shape);
}

export function shape(item: ResponseItem): unknown {
  switch (item.type) {
    case "message":
      return { [item.role]: messageText(item) };
    case "reasoning":
      return { reasoning: item.summary, sealed: item.encrypted_content };
    case "function_call":
      return { call: item.call_id, name: item.name, arguments: item.arguments };
    case "function_call_output":
      return { output: item.output, of: item.call_id };
    default:
      return { other: item.type };
  }
}

/** Checks that all expected items occur in this order, with any other items in between. */
export function expectInOrder(given: readonly unknown[], expected: readonly unknown[]): void {
  let from = 0;
  const found = expected.map((item) => {
    const text = JSON.stringify(item);
    const at = given.findIndex((each, index) => index >= from && JSON.stringify(each) === text);
    if (at === -1) return undefined;
    from = at + 1;
    return item;
  });
  expect(found).toEqual(expected);
}
