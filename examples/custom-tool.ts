// Defines a custom tool. Its arguments are validated by its schema before it runs.
import { ConversationManager, defineTool, messageText } from "cody";
import { startMockLlm } from "cody/testing";
import * as z from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.strictObject({ city: z.string().describe("its name in English") }),
  // A read-only tool runs without an approval request.
  readOnly: true,
  run: ({ city }) => `sunny in ${city}`,
});

// A scripted model: it calls the tool, then answers.
const model = await startMockLlm({
  script: {
    replies: [{ calls: [{ name: "weather", arguments: { city: "Oslo" } }] }, { text: "It is sunny in Oslo." }],
  },
});

const cody = new ConversationManager({
  env: process.env,
  config: {
    provider: "openai",
    model: "gpt-5.4",
    providers: { openai: { apiKey: "mock", baseUrl: `${model.url}/v1` } },
  },
  tools: [weather],
});
const { conversation } = await cody.newConversation();
for (const item of await conversation.processMessage("How is the weather in Oslo?")) {
  if (item.type === "function_call_output" && typeof item.output === "string") console.log(`weather: ${item.output}`);
  if (item.type === "message" && item.role === "assistant") console.log(messageText(item));
}
await cody.shutdown();
await model.close();
