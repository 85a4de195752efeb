import { expect, test } from "vitest";
import { initialContext } from "../../src/compaction/item-kinds.js";
import { agents, assistant, developer, environment, pinned, summary, user } from "./items.js";

test("the newest context of each kind is returned, in order", () => {
  const history = [
    developer("be kind"),
    agents("old"),
    environment("/a"),
    user("hello"),
    agents("new"),
    developer("be brief"),
    { ...developer("compacted"), summary: true as const },
    assistant("hello"),
    environment("/b"),
    developer("be kind"),
  ];
  expect(initialContext(history)).toEqual([
    agents("new"),
    developer("be brief"),
    environment("/b"),
    developer("be kind"),
  ]);
});

test("turn items, pinned items and summaries are not initial context", () => {
  const happened = ["<user_shell_command>ls</user_shell_command>", "<turn_aborted>x</turn_aborted>"];
  const told = ["<subagent_notification>x</subagent_notification>", "<hook_prompt>x</hook_prompt>"];
  const warning = "Warning: your account was flagged for potentially high-risk cyber activity";
  expect(initialContext([...happened, ...told, warning].map(user))).toEqual([]);
  expect(initialContext([pinned("<skill>x</skill>"), summary("<skill>x</skill>")])).toEqual([]);
});
