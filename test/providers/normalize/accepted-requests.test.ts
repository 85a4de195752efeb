import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { WireApi } from "../../../src/messages/settings/config.js";
import type { ModelRequest } from "../../../src/messages/model.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { chatApi } from "../../../src/mock-llm/chat/api.js";
import { messagesApi } from "../../../src/mock-llm/messages/api.js";
import { responsesApi } from "../../../src/mock-llm/responses/api.js";
import { redactedData, encryptedContent, signatureOf } from "../../../src/mock-llm/signatures.js";
import type { MockApi } from "../../../src/mock-llm/wire-api.js";
import { anthropicRequest } from "../../../src/providers/messages/request-body.js";
import { chatBody } from "../../../src/providers/chat/request-body.js";
import { responsesBody } from "../../../src/providers/responses/request-body.js";
import { requestOf } from "../requests.js";
import { anyHistory, model } from "./histories.js";

interface Api {
  readonly mock: MockApi;
  readonly body: (request: ModelRequest) => object;
}

const apis: Record<WireApi, Api> = {
  responses: { mock: responsesApi, body: responsesBody },
  chat: { mock: chatApi, body: chatBody },
  messages: { mock: messagesApi, body: anthropicRequest },
};

test.each(Object.entries(apis))(
  "the strict mock server accepts a request with any history over %s",
  (_, { mock, body }) => {
    fc.assert(
      fc.property(anyHistory, (items) => {
        const sent = body({ ...requestOf(items.map(withMockEncryption), ["shell"]), model });
        const json = JSON.parse(JSON.stringify(sent));
        expect(mock.refusal(json, { "anthropic-version": "2023-06-01" })).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  },
);

/** Replaces encrypted content with content of the strict mock server, which refuses any other. */
function withMockEncryption(item: ResponseItem): ResponseItem {
  if (item.type !== "reasoning" || !item.encrypted_content) return item;
  if (item.origin?.api !== "messages") return { ...item, encrypted_content: encryptedContent("rs_1", model) };
  // Without content it is redacted thinking.
  if (item.content === null) return { ...item, encrypted_content: redactedData("hm", model) };
  return {
    ...item,
    content: [{ type: "reasoning_text", text: "hm" }],
    encrypted_content: signatureOf("hm", model),
  };
}
