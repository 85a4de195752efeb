import { expect, test } from "vitest";
import { groupsOf, isSafeCut, safeCuts } from "../../../src/compaction/cut/safe-cut.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { assistant, call, environment, ghost, output, pinned, summary, thought, user } from "../items.js";

function groups(items: readonly ResponseItem[]): number[][] {
  return groupsOf(items).map(({ places }) => places);
}

function cuts(items: readonly ResponseItem[]): number[] {
  return safeCuts(items, groupsOf(items)).flatMap((isSafe, place) => (isSafe ? [place] : []));
}

test("consecutive model items form one group with the outputs of their calls", () => {
  const items = [user("go"), thought("hm"), assistant("I will"), call("a"), call("b"), output("b"), output("a")];
  expect(groups([...items, thought("so"), assistant("done"), user("ok")])).toEqual([
    [0],
    [1, 2, 3, 4, 5, 6],
    [7, 8],
    [9],
  ]);
  expect(cuts([...items, thought("so"), assistant("done"), user("ok")])).toEqual([0, 1, 7, 9, 10]);
});

test("an output belongs to the first unanswered call of its id; otherwise it is a group of its own", () => {
  const items = [output("a"), call("a"), user("wait"), call("a"), output("a"), output("a"), output("a")];
  expect(groups(items)).toEqual([[0], [1, 4], [2], [3, 5], [6]]);
  expect(cuts(items)).toEqual([0, 1, 6, 7]);
});

test("a surplus output is not assigned to the next call of its id", () => {
  expect(groups([call("a"), output("a"), output("a"), call("a"), output("a")])).toEqual([[0, 1], [2], [3, 4]]);
});

test("tool search calls are paired with tool search outputs only", () => {
  const search: ResponseItem[] = [
    { type: "tool_search_call", call_id: "a", arguments: {} },
    { type: "tool_search_output", call_id: "a", tools: [] },
  ];
  expect(groups([call("a"), output("z"), ...search, output("a")])).toEqual([[0, 4], [1], [2, 3]]);
});

test("snapshots and pins do not split a group, a summary does", () => {
  expect(groups([thought("hm"), summary("s"), call("a"), output("a")])).toEqual([[0], [1], [2, 3]]);
  expect(groups([thought("hm"), ghost("1"), pinned("p"), call("a"), output("a")])).toEqual([[0, 3, 4], [1], [2]]);
});

test("there is no safe cut after a call whose output is pending", () => {
  const open = [user("go"), call("a"), call("b"), output("a")];
  expect(cuts(open)).toEqual([0, 1]);
  expect(cuts([...open, ghost("1"), pinned("p")])).toEqual([0, 1]);
  expect(cuts([...open, environment("/")])).toEqual([0, 1, 4, 5]);
  expect(isSafeCut([...open, user("never mind")], 4)).toBe(true);
  expect(isSafeCut(open, 9)).toBe(false);
});
