// A child process with the mock server of the built package: it answers with the newest reply it was sent, and reports every request.
import type { MockReply } from "../../src/mock-llm/script.js";
import { startMockLlm } from "../support/built-testing.js";

let reply: MockReply = { text: "Hello." };
process.on("message", (message: MockReply) => {
  reply = message;
  process.send?.({ type: "ready" });
});
process.on("disconnect", () => process.exit());
const { url } = await startMockLlm({
  replies: () => reply,
  keepRequests: 0,
  onRequest: () => process.send?.({ type: "request" }),
});
process.send?.({ type: "listening", url });
