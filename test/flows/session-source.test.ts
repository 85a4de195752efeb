import { describe, expect, expectTypeOf, test } from "vitest";
import type {
  ManagerOptions,
  SessionId,
  SessionMeta,
  SessionSource,
  StartSource,
  TurnContext,
} from "../../src/index.js";
import { putCodexRollouts } from "../support/codex-home.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("session sources are typed", () => {
  expectTypeOf<SessionSource>().toEqualTypeOf<"interactive" | "non_interactive" | "mcp" | { resume: SessionId }>();
  expectTypeOf<StartSource>().toEqualTypeOf<Extract<SessionSource, string>>();
  expectTypeOf<ManagerOptions["source"]>().toEqualTypeOf<StartSource | undefined>();
  expectTypeOf<SessionMeta["session_source"]>().toEqualTypeOf<SessionSource | undefined>();
  expectTypeOf<TurnContext["session_source"]>().toEqualTypeOf<SessionSource | undefined>();
});

describe("the first line records how a conversation was started", () => {
  test.each([
    ["interactive", "cli"],
    ["non_interactive", "exec"],
    ["mcp", "mcp"],
  ] as const)("%s, as %s for Codex", async (source, codexSource) => {
    const { manager } = await openManager({ source, providers: [scripted([says("one")])] });
    const { conversation } = await manager.newConversation({ provider: "scripted", model: "m" });
    expect(await new EventLog(conversation).until("session_configured")).toMatchObject({ session_source: source });
    await conversation.processMessage("first");
    const [meta, , context] = await rolloutLines(conversation.rolloutPath);
    expect(meta).toMatchObject({ type: "session_meta", payload: { source: codexSource, session_source: source } });
    expect(context?.type).toBe("turn_context");
    expect(context?.payload).not.toHaveProperty("session_source");
  });
});

test("turns of a resumed conversation record which one was resumed, and its first line stays unchanged", async () => {
  const first = await openConversation({ provider: scripted([says("one")]) });
  await first.conversation.processMessage("first");
  await first.manager.shutdown();
  const before = await rolloutLines(first.conversation.rolloutPath);

  const { manager } = await openManager({ home: first.home, providers: [scripted([says("two")])] });
  const resumed = await manager.resumeConversation(first.conversationId);
  const source = { resume: first.conversationId };
  expect(await new EventLog(resumed).until("session_configured")).toMatchObject({ session_source: source });
  await resumed.processMessage("second");
  const lines = await rolloutLines(resumed.rolloutPath);
  expect(lines.slice(0, before.length)).toEqual(before);
  expect(lines.slice(before.length).find(({ type }) => type === "turn_context")?.payload).toMatchObject({
    session_source: source,
  });
});

test("the copy of a rollout that only Codex may write records which one was resumed", async () => {
  const codex = await temporaryFolder();
  const [rollout] = await putCodexRollouts(codex, "v0.166.0/simple");
  const { id = "" } = rollout ?? {};
  const { manager } = await openManager({
    source: "interactive",
    env: { CODEX_HOME: codex },
    config: { persistence: { layout: "codex" } },
  });
  const copy = await manager.resumeConversation(id, { provider: "offline", model: "offline" });
  const source = { resume: id };
  expect(await new EventLog(copy).until("session_configured")).toMatchObject({ session_source: source });
  const [meta] = await rolloutLines(copy.rolloutPath);
  expect(meta?.payload).toMatchObject({ source: "cli", session_source: source });
});
