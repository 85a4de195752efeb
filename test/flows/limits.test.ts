import { expect, test } from "vitest";
import type { Provider } from "../../src/providers/provider.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { says } from "../support/scripted-provider.js";

/** A provider that refuses more than a given number of simultaneous requests and records the order of the requests. */
function limitedProvider(most: number): Provider & { readonly asked: string[]; most: number } {
  let running = 0;
  const provider = {
    name: "narrow",
    asked: [] as string[],
    most: 0,
    async *stream({ conversationId }: { conversationId: string }) {
      provider.asked.push(conversationId);
      running += 1;
      provider.most = Math.max(provider.most, running);
      await new Promise((resolve) => setImmediate(resolve));
      const isRefused = running > most;
      running -= 1;
      if (isRefused) {
        yield { type: "failed" as const, failure: { code: "rate_limit" as const, message: "busy", retryable: false } };
      } else yield* says("Yes.");
    },
  };
  return provider as unknown as Provider & { readonly asked: string[]; most: number };
}

test("a thousand conversations queue for a provider that accepts twenty requests at once", async () => {
  const provider = limitedProvider(20);
  const config = { limits: { narrow: { concurrency: 20 } }, persistence: { enabled: false } };
  const { manager } = await openManager({ providers: [provider], config });
  const opened = await Promise.all(
    Array.from({ length: 1_000 }, () => manager.newConversation({ provider: "narrow", model: "m" })),
  );
  const turns = await Promise.all(opened.map(({ conversation }) => conversation.processMessage("Hi")));
  expect(turns).toHaveLength(1_000);
  expect(provider.most).toBe(20);
  expect(new Set(provider.asked).size).toBe(1_000);
});

test("an interrupt removes a turn from the request queue", async () => {
  const provider = limitedProvider(1);
  const config = { limits: { narrow: { requestsPerMinute: 1 } } };
  const { manager } = await openManager({ providers: [provider], config });
  const settings = { provider: "narrow", model: "m" };
  await (await manager.newConversation(settings)).conversation.processMessage("Hi");
  const { conversation } = await manager.newConversation(settings);
  const events = new EventLog(conversation);
  await conversation.submit("Hi");
  await events.until("user_message");
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
  expect(provider.asked).toHaveLength(1);
});
