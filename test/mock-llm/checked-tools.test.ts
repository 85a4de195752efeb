import { expect, test } from "vitest";
import { withoutCheckedTools, cacheToolCheck } from "../../src/mock-llm/checked-tools.js";
import { apis, type ApiName, hello, openMock, post } from "../support/open-mock-llm.js";

const schema = { type: "object", properties: { list: { type: "array", items: { type: "string" } } } };

/** A request with one tool whose parameters have this schema. */
function withTool(api: ApiName, parameters: unknown): Record<string, unknown> {
  const named = { name: "look", description: "Looks." };
  const tool = {
    responses: { type: "function", ...named, parameters },
    chat: { type: "function", function: { ...named, parameters } },
    messages: { ...named, input_schema: parameters },
  };
  return { ...hello(api), tools: [tool[api]] };
}

test.each(apis)("%s: an invalid tool that resembles an accepted one is refused", async (api) => {
  const mock = await openMock();
  const status = async (parameters: unknown) => (await post(mock, api, withTool(api, parameters))).status;
  const others = [{ ...schema, type: "array" }, { ...schema, anyOf: [] }, Object.values(schema), "object", 5];
  const found = [];
  for (const other of [schema, ...others, schema, ...others]) found.push(await status(other));
  expect(found).toEqual([200, 400, 400, 400, 400, 400, 200, 400, 400, 400, 400, 400]);
});

test("a value that JSON.stringify turns into null is not taken for null", async () => {
  const mock = await openMock();
  const text = JSON.stringify(withTool("responses", null));
  expect((await post(mock, "responses", text)).status).toBe(200);
  expect((await post(mock, "responses", text.replace('"parameters":null', '"parameters":1e999'))).status).toBe(400);
});

test("the other fields of a request with known tools are still checked", async () => {
  const mock = await openMock();
  const request = withTool("responses", schema);
  expect((await post(mock, "responses", request)).status).toBe(200);
  expect((await post(mock, "responses", { ...request, store: 5 })).status).toBe(400);
});

test("changing a logged request does not change the cached tool checks", async () => {
  const mock = await openMock();
  const unseen = { ...schema, title: "unseen" };
  const wrong = withTool("chat", { ...unseen, type: "array" });
  await post(mock, "chat", withTool("chat", unseen));
  const logged = mock.requests[0]?.body as { tools: unknown[] };
  logged.tools.splice(0, 1, ...(wrong["tools"] as unknown[]));
  expect((await post(mock, "chat", wrong)).status).toBe(400);
});

test("cacheToolCheck remembers only valid tools, and only the newest of them", () => {
  const seen: unknown[] = [];
  const check = cacheToolCheck((tools) => {
    seen.push(tools);
    return tools === "unfit" ? "no" : undefined;
  });
  expect([check([{ a: 1 }]), check([{ a: 1 }]), check("unfit"), check("unfit")]).toEqual([
    undefined,
    undefined,
    "no",
    "no",
  ]);
  expect(seen).toEqual([[{ a: 1 }], "unfit", "unfit"]);
  for (let count = 0; count < 16; count += 1) check(count);
  check([{ a: 1 }]);
  expect(seen).toHaveLength(3 + 16 + 1);
});

test("withoutCheckedTools checks a request without tools that were valid before", () => {
  const seen: unknown[] = [];
  const check = withoutCheckedTools((body) => void seen.push(body));
  for (const a of [1, 2]) check({ a, tools: [{ b: [1, null] }] });
  check({ a: 3, tools: [{ b: [1, {}] }] });
  expect(seen).toEqual([{ a: 1, tools: [{ b: [1, null] }] }, { a: 2 }, { a: 3, tools: [{ b: [1, {}] }] }]);
});
