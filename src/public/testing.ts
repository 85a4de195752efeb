/** `cody/testing`: models to test agents against, without a key or a network. */
export type { LoggedRequest } from "../mock-llm/respond.js";
export { MockCall, MockFault, MockReply, MockScript } from "../mock-llm/script.js";
export { type MockLlm, type MockLlmOptions, startMockLlm } from "../mock-llm/server.js";
export { type OfflineOptions, offlineProvider } from "../providers/offline/provider.js";
