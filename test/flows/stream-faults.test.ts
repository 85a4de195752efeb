import { gzipSync } from "node:zlib";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { begin, dataOf } from "../providers/loopback.js";
import { changed, inPackets, type AnswerFault, openFaulty, resetAt } from "../support/faulty-proxy.js";
import { wireApis } from "../support/wire-apis.js";

const text = "Grüße aus 東京 🗼 and so on";
const call = { id: "call_a", name: "note", arguments: { text } };
const half = (answer: Buffer): number => Math.floor(answer.length / 2);
const afterText = (answer: Buffer): number => answer.indexOf("🗼") + 10;
const inCall = (answer: Buffer): number => answer.indexOf("call_a") + 200;
const begins = 'data: {"type"';

const withoutIds = (history: unknown): string =>
  JSON.stringify(history).replaceAll(/"(?:id|encrypted_content)":"[^"]*"/g, "");

const megabyte = 1024 * 1024;

/** A line of a hundred megabytes, produced only as far as it is read. */
function hugeLine(taken: { bytes: number }): AnswerFault {
  return async (response) => {
    begin(response, "data: ");
    const piece = Buffer.alloc(megabyte, "x");
    for (let count = 0; count < 100 && !response.destroyed; count += 1) {
      taken.bytes += piece.length;
      response.write(piece);
      while (response.writableNeedDrain && !response.destroyed) await setImmediate();
    }
    response.end();
  };
}

function gzipped(length: (packed: Buffer) => number): AnswerFault {
  return (response, answer) => {
    const packed = gzipSync(answer);
    response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
    response.end(packed.subarray(0, length(packed)));
  };
}

const silent: AnswerFault = (response) => begin(response, begins);
const stalled: AnswerFault = (response, answer) => begin(response, answer.subarray(0, afterText(answer)));
const whole: AnswerFault = (response, answer) => {
  begin(response, answer);
  response.end();
};

/** An answer of deltas and an end, without the events that report or close its items. */
const withoutReports = changed((answer) =>
  answer
    .split("\n\n")
    .filter((event) => !event.includes('"response.output_item.done"') && !event.includes('"content_block_stop"'))
    .map((event) => (event.includes('"response.completed"') ? event.replace(/"output":\[.*?\}\],/, "") : event))
    .join("\n\n"),
);

/** Other ways to write the same events that the server-sent events standard allows. */
const spellings: [string, (answer: string) => string][] = [
  ["CRLF", (answer) => answer.replaceAll("\n", "\r\n")],
  ["CR", (answer) => answer.replaceAll("\n", "\r")],
  ["no space behind the colon", (answer) => answer.replaceAll(/^(data|event): /gm, "$1:")],
  ["a byte order mark", (answer) => `\uFEFF${answer}`],
  [
    "comments and fields nobody knows",
    (answer) => answer.replaceAll("\n\n", "\nid: 7\nretry: 9\nfoo: bar\n\n: comment\n\n"),
  ],
  ["several data lines", (answer) => answer.replaceAll(/^data: \{(.*)$/gm, "data: {\ndata: $1")],
];

const refusedEvents: [string, string][] = [
  ["200,000 deep", `{"type":"x","a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
  ["with __proto__", '{"type":"x","__proto__":{"polluted":true}}'],
  ["that is no JSON", "not json"],
];

describe.each(wireApis)("over $api", (spoken) => {
  describe("E1 a connection reset", () => {
    test("before anything was shown is retried", async () => {
      const { play, expectNextTaken, noted } = await openFaulty(
        spoken,
        [{ text }, { text }, { text: "Fine" }],
        [resetAt(() => begins.length)],
      );
      expect(await play("go")).toMatchObject({ said: text, retries: ["network"], shown: text, ends: 1 });
      expect(noted).toEqual([]);
      await expectNextTaken("Fine");
    });

    test("after some text ends the turn, and nothing is shown twice or run", async () => {
      const { play, expectNextTaken, noted, mock } = await openFaulty(
        spoken,
        [{ text, calls: [call] }, { text: "Fine" }],
        [resetAt(afterText)],
      );
      const turn = await play("go");
      expect(turn).toMatchObject({ said: null, failure: "network", retries: [], ends: 1 });
      expect(text.startsWith(turn.shown)).toBe(true);
      expect(mock.requests).toHaveLength(1);
      expect(noted).toEqual([]);
      await expectNextTaken("Fine");
    });
  });

  test("E2 an end without the terminal event is a truncated stream, not a completed turn", async () => {
    const { play, expectNextTaken } = await openFaulty(
      spoken,
      [{ text, fault: { type: "cut" } }, { text: "Fine" }],
      [],
    );
    expect(await play("go")).toMatchObject({ said: null, failure: "network", shown: text, ends: 1 });
    await expectNextTaken("Fine");
  });

  test("text whose item was never reported is still the answer", async () => {
    const { play, expectNextTaken, conversation } = await openFaulty(
      spoken,
      [{ text }, { text: "Fine" }],
      [withoutReports],
    );
    expect(await play("go")).toMatchObject({ said: text, failure: null, shown: text, ends: 1 });
    expect(conversation.getHistory().at(-1)).toMatchObject({ role: "assistant", content: [{ text }] });
    await expectNextTaken("Fine");
  });

  test("E3 silence is retried while nothing was shown, and then an error", async () => {
    const { play, expectNextTaken } = await openFaulty(
      spoken,
      [{ text }, { text }, { text }, { text: "Fine" }],
      [silent, whole, stalled],
      { idle: "short" },
    );
    expect(await play("go")).toMatchObject({ said: text, retries: ["timeout"], shown: text });
    expect(await play("again")).toMatchObject({ said: null, failure: "timeout", retries: [], ends: 1 });
    await expectNextTaken("Fine");
  });

  test("E4 pings do not count as progress", async () => {
    const pings: AnswerFault = (response) => {
      begin(response);
      const ping = spoken.api === "messages" ? 'event: ping\ndata: {"type": "ping"}\n\n' : ": keep-alive\n\n";
      const timer = setInterval(() => response.write(ping), 10);
      response.on("close", () => clearInterval(timer));
    };
    const { play, expectNextTaken } = await openFaulty(spoken, [{ text }, { text }, { text: "Fine" }], [pings], {
      idle: "short",
    });
    expect(await play("go")).toMatchObject({ said: text, retries: ["timeout"] });
    await expectNextTaken("Fine");
  });

  test("E5, E6 an answer in single bytes is read like one in one piece, each character whole", async () => {
    const replies = [{ reasoning: "Hm 🤔", text, calls: [call] }, { text }, { text: "Fine" }];
    const plain = await openFaulty(spoken, replies, []);
    const dripped = await openFaulty(spoken, replies, [inPackets(1), inPackets(1)]);
    expect(await dripped.play("go")).toEqual(await plain.play("go"));
    expect(dripped.noted).toEqual([{ text }]);
    expect(withoutIds(dripped.conversation.getHistory())).toBe(withoutIds(plain.conversation.getHistory()));
    await dripped.expectNextTaken("Fine");
  });

  test("E7 invalid UTF-8 is replaced, and the turn continues", async () => {
    const bad = changed((answer) =>
      Buffer.from(Buffer.from(answer).toString("latin1").replaceAll("so ", "\u00FF\u00FE "), "latin1"),
    );
    const { play, expectNextTaken } = await openFaulty(spoken, [{ text }, { text: "Fine" }], [bad]);
    const turn = await play("go");
    expect(turn).toMatchObject({ failure: null, ends: 1 });
    expect(turn.said).toContain("\uFFFD");
    await expectNextTaken("Fine");
  });

  test.each(spellings)("E8 events with %s are read as the standard says", async (_name, spelling) => {
    const replies = [{ text, calls: [call] }, { text }, { text: "Fine" }];
    const { play, expectNextTaken, noted } = await openFaulty(spoken, replies, [changed(spelling), changed(spelling)]);
    expect(await play("go")).toMatchObject({ said: text, failure: null, retries: [] });
    expect(noted).toEqual([{ text }]);
    await expectNextTaken("Fine");
  });

  test("E9 a line of 100 MB is cut off at a limit", async () => {
    const taken = { bytes: 0 };
    const { play, expectNextTaken } = await openFaulty(spoken, [{ text }, { text: "Fine" }], [hugeLine(taken)]);
    const message = "acme: an event is longer than 8388608 bytes";
    expect(await play("go")).toMatchObject({ said: null, failure: "bad_message", message, retries: [] });
    expect(taken.bytes).toBeLessThan(40 * megabyte);
    await expectNextTaken("Fine");
  });

  test.each(refusedEvents)("E10 an event %s is refused, and the process survives", async (_name, data) => {
    const bad = changed((answer) => dataOf(data) + answer);
    const { play, expectNextTaken } = await openFaulty(spoken, [{ text }, { text }, { text: "Fine" }], [bad]);
    expect(await play("go")).toMatchObject({ said: text, retries: ["bad_message"], shown: text });
    expect({}).not.toHaveProperty("polluted");
    await expectNextTaken("Fine");
  });

  describe("E11 an error event", () => {
    test.each([
      [529, "overloaded"],
      [429, "rate_limit"],
      [500, "server"],
    ])("of status %i before anything else is retried", async (status, code) => {
      const error = { fault: { type: "error_event" as const, status } };
      const { play, expectNextTaken } = await openFaulty(spoken, [error, { text }, { text: "Fine" }], []);
      const { retries, said } = await play("go");
      expect(said).toBe(text);
      // OpenAI's APIs have no stream event for being overloaded.
      expect(retries).toEqual([status === 529 && spoken.api !== "messages" ? "server" : code]);
      await expectNextTaken("Fine");
    });

    test("that blames the request is not retried", async () => {
      const { play, expectNextTaken, mock } = await openFaulty(
        spoken,
        [{ fault: { type: "error_event", status: 400, message: "no such thing" } }, { text: "Fine" }],
        [],
      );
      expect(await play("go")).toMatchObject({
        failure: "invalid_request",
        message: "acme: no such thing",
        retries: [],
      });
      expect(mock.requests).toHaveLength(1);
      await expectNextTaken("Fine");
    });

    test("after some text ends the turn, and the partial text is not in the history", async () => {
      const { play, expectNextTaken, conversation, noted } = await openFaulty(
        spoken,
        [{ text, calls: [call], fault: { type: "error_event", status: 529, afterDeltas: 3 } }, { text: "Fine" }],
        [],
      );
      const turn = await play("go");
      expect(turn).toMatchObject({ said: null, shown: "Grüße aus 東京 ", retries: [], ends: 1 });
      expect(["overloaded", "server"]).toContain(turn.failure);
      expect(JSON.stringify(conversation.getHistory())).not.toContain("東京");
      expect(noted).toEqual([]);
      await expectNextTaken("Fine");
    });
  });

  describe("E16 a call", () => {
    test("that is cut off does not run", async () => {
      const { play, expectNextTaken, noted } = await openFaulty(
        spoken,
        [{ calls: [call] }, { text }, { text: "Fine" }],
        [changed((answer) => Buffer.from(answer).subarray(0, inCall(Buffer.from(answer))))],
      );
      expect(await play("go")).toMatchObject({ said: text, retries: ["network"] });
      expect(noted).toEqual([]);
      await expectNextTaken("Fine");
    });

    test("with invalid JSON arguments is answered with an error, and the history stays paired", async () => {
      const { play, expectNextTaken, noted, mock } = await openFaulty(
        spoken,
        [{ calls: [{ ...call, arguments: '{"text":"half' }] }, { text }, { text: "Fine" }],
        [],
      );
      expect(await play("go")).toMatchObject({ said: text, failure: null });
      expect(noted).toEqual([]);
      expect(JSON.stringify(mock.requests[1]?.body)).toContain(
        "the arguments of note are not a JSON object; nothing was run",
      );
      await expectNextTaken("Fine");
    });

    test("whose id comes twice runs once, and each has its own output", async () => {
      const { play, expectNextTaken, noted, mock } = await openFaulty(
        spoken,
        [{ calls: [call, { ...call, arguments: { text: "second" } }] }, { text }, { text: "Fine" }],
        [],
      );
      expect(await play("go")).toMatchObject({ said: text, failure: null });
      expect(noted).toEqual([{ text }]);
      expect(mock.requests[1]?.status).toBe(200);
      await expectNextTaken("Fine");
    });
  });

  test("E17 a second terminal event is ignored", async () => {
    const { play, expectNextTaken, events } = await openFaulty(
      spoken,
      [{ text, fault: { type: "duplicate_terminal" } }, { text: "Fine" }],
      [],
    );
    expect(await play("go")).toMatchObject({ said: text, failure: null, ends: 1 });
    expect(events.types().filter((type) => type === "agent_message")).toHaveLength(1);
    await expectNextTaken("Fine");
  });

  test("E20 a truncated gzip stream is a lost connection", async () => {
    const { play, expectNextTaken } = await openFaulty(
      spoken,
      [{ calls: [call] }, { text }, { text: "Fine" }],
      [gzipped(half), gzipped((packed) => packed.length)],
    );
    expect(await play("go")).toMatchObject({ said: text, retries: ["network"] });
    await expectNextTaken("Fine");
  });
});
