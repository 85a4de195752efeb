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

test("what the model did in a row is together with the outputs of its calls", () => {
  const items = [user("go"), thought("hm"), assistant("I will"), call("a"), call("b"), output("b"), output("a")];
  expect(groups([...items, thought("so"), assistant("done"), user("ok")])).toEqual([
    [0],
    [1, 2, 3, 4, 5, 6],
    [7, 8],
    [9],
  ]);
  expect(cuts([...items, thought("so"), assistant("done"), user("ok")])).toEqual([0, 1, 7, 9, 10]);
});

test("an output goes to the first call of its id that has none; without one it is alone", () => {
  const items = [output("a"), call("a"), user("wait"), call("a"), output("a"), output("a"), output("a")];
  expect(groups(items)).toEqual([[0], [1, 4], [2], [3, 5], [6]]);
  expect(cuts(items)).toEqual([0, 1, 6, 7]);
});

test("an output too many takes nothing from the next call of its id", () => {
  expect(groups([call("a"), output("a"), output("a"), call("a"), output("a")])).toEqual([[0, 1], [2], [3, 4]]);
});

test("searches for tools have outputs of their own", () => {
  const search: ResponseItem[] = [
    { type: "tool_search_call", call_id: "a", arguments: {} },
    { type: "tool_search_output", call_id: "a", tools: [] },
  ];
  expect(groups([call("a"), output("z"), ...search, output("a")])).toEqual([[0, 4], [1], [2, 3]]);
});

test("snapshots and pins part nothing, a summary does", () => {
  expect(groups([thought("hm"), summary("s"), call("a"), output("a")])).toEqual([[0], [1], [2, 3]]);
  expect(groups([thought("hm"), ghost("1"), pinned("p"), call("a"), output("a")])).toEqual([[0, 3, 4], [1], [2]]);
});

test("behind a call whose output may still come there is no safe cut", () => {
  const open = [user("go"), call("a"), call("b"), output("a")];
  expect(cuts(open)).toEqual([0, 1]);
  expect(cuts([...open, ghost("1"), pinned("p")])).toEqual([0, 1]);
  expect(cuts([...open, environment("/")])).toEqual([0, 1, 4, 5]);
  expect(isSafeCut([...open, user("never mind")], 4)).toBe(true);
  expect(isSafeCut(open, 9)).toBe(false);
});
