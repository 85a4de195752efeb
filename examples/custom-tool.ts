// A tool of your own. Its arguments are checked by its schema before it runs.
import { ConversationManager, defineTool, messageText } from "cody";
import { startMockLlm } from "cody/testing";
import * as z from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.strictObject({ city: z.string().describe("its name in English") }),
  // It changes nothing, so nobody is asked before it runs.
  readOnly: true,
  run: ({ city }) => `sunny in ${city}`,
});

// Stands for a real model: it calls the tool, and then says something.
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
