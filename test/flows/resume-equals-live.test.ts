import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { emptyState, apply } from "../../src/actors/conversation/state/state.js";
import { readRollout } from "../../src/rollouts/file/read.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { assistant, beginsAndHangs, calls, fails, type Reply, says, scripted } from "../support/scripted-provider.js";

/** One turn of a random conversation. */
type Step =
  | { readonly kind: "talk"; readonly text: string; readonly answer: string }
  | { readonly kind: "think"; readonly text: string; readonly thought: string }
  | { readonly kind: "tool"; readonly text: string; readonly name: string }
  | { readonly kind: "fail"; readonly text: string }
  | { readonly kind: "interrupt"; readonly text: string }
  | { readonly kind: "replace"; readonly text: string }
  | { readonly kind: "reopen" };

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("talk" as const), text, answer: text }),
  fc.record({ kind: fc.constant("think" as const), text, thought: text }),
  fc.record({ kind: fc.constant("tool" as const), text, name: fc.constantFrom("shell", "read_file", "nonsense") }),
  fc.record({ kind: fc.constant("fail" as const), text }),
  fc.record({ kind: fc.constant("interrupt" as const), text }),
  fc.record({ kind: fc.constant("replace" as const), text }),
  fc.record({ kind: fc.constant("reopen" as const) }),
);

function repliesOf(current: Step, index: number): Reply[] {
  switch (current.kind) {
    case "talk":
      return [says(current.answer)];
    case "think": {
      const thought: ResponseItem = {
        type: "reasoning",
        summary: [{ type: "summary_text", text: current.thought }],
        encrypted_content: "opaque",
      };
      return [[{ type: "item", itemId: "thought", item: thought }, ...says("done")]];
    }
    case "tool":
      return [calls(current.name, `call_${index}`), says("called")];
    case "fail":
      return [fails("auth", false)];
    case "interrupt":
      return [beginsAndHangs(`half ${index}`)];
    default:
      return [];
  }
}

test("resuming any conversation restores the state it had while it was open", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const provider = scripted(steps.flatMap(repliesOf));
      const opened = await openConversation({ provider });
      let { manager, conversation } = opened;
      let failed = 0;
      for (const [index, current] of steps.entries()) {
        if (current.kind === "reopen") {
          await manager.shutdown();
          ({ manager } = await openManager({ home: opened.home, providers: [provider] }));
          conversation = await manager.resumeConversation(opened.conversationId, { allowEmpty: true });
        } else if (current.kind === "replace") {
          await conversation.replaceHistory([...conversation.getHistory().slice(0, 1), assistant(current.text)]);
        } else if (current.kind === "interrupt") {
          const turn = conversation.processMessage(current.text);
          const events = conversation.events({ since: 0 });
          // Interrupt only after this turn's request: a turn interrupted earlier leaves its reply to the next turn.
          const half = `half ${index}`;
          for await (const { msg } of events) if (msg.type === "agent_message_delta" && msg.delta === half) break;
          await conversation.interrupt();
          await turn;
        } else {
          await conversation.processMessage(current.text).catch(() => (failed += 1));
        }
      }
      expect(failed).toBe(steps.filter(({ kind }) => kind === "fail").length);
      const live = conversation.getHistory();
      const turns = conversation.history.toJSON();
      await manager.shutdown();
      const { manager: fresh } = await openManager({ home: opened.home, providers: [provider] });
      const resumed = await fresh.resumeConversation(opened.conversationId, { allowEmpty: true });
      expect(resumed.getHistory()).toEqual(live);
      expect(resumed.history.toJSON()).toEqual(turns);
      await fresh.shutdown();
      const state = emptyState();
      const path = opened.conversation.rolloutPath ?? "";
      for await (const { line } of readRollout(path, opened.conversationId)) apply(state, line);
      expect(state.openTurn).toBeUndefined();
      expect(state.turns).toBe(steps.filter(({ kind }) => kind !== "replace" && kind !== "reopen").length);
    }),
    { numRuns: 10 },
  );
});
