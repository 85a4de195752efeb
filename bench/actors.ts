// Measures message rates of actors, compared with bare queues, raw ports and Comlink.
import { actorFlood, actorPingPong, bareFlood, barePingPong } from "./support/message-rates.js";
import { interleaved } from "./support/measure.js";
import { met, percent, printTable, whole } from "./support/table.js";
import { openThreads } from "./support/echo-threads.js";

const rounds = 9;
const hops = 200_000;
const sequential = 2_000;
const inFlight = 30_000;

interface Comparison {
  readonly subject: string;
  readonly limit: string;
  readonly goal: number;
}

const threads = openThreads();
const measured = await interleaved(rounds, [
  { name: "bare ping-pong", measure: () => barePingPong(hops) },
  { name: "actor ping-pong", measure: () => actorPingPong(hops) },
  { name: "bare flood", measure: () => bareFlood(hops) },
  { name: "actor flood", measure: () => actorFlood(hops) },
  { name: "raw round trip", measure: () => threads.rawAsks(1, sequential) },
  { name: "Comlink call", measure: () => threads.comlinkAsks(1, sequential) },
  { name: "ask", measure: () => threads.asks(1, sequential) },
  { name: "raw round trip, 256 in flight", measure: () => threads.rawAsks(256, inFlight) },
  { name: "Comlink call, 256 in flight", measure: () => threads.comlinkAsks(256, inFlight) },
  { name: "ask, 256 in flight", measure: () => threads.asks(256, inFlight) },
  { name: "raw postMessage, one way", measure: () => threads.rawTells(inFlight) },
  { name: "tell, one way", measure: () => threads.tells(inFlight) },
]);
await threads.close();

compare("Two actors in one thread, messages/s", [
  { subject: "actor ping-pong", limit: "bare ping-pong", goal: 0.25 },
  { subject: "actor flood", limit: "bare flood", goal: 0.25 },
]);
compare("An actor in another thread, messages/s", [
  { subject: "ask", limit: "raw round trip", goal: 0.5 },
  { subject: "ask", limit: "Comlink call", goal: 0.7 },
  { subject: "ask, 256 in flight", limit: "raw round trip, 256 in flight", goal: 0.25 },
  { subject: "ask, 256 in flight", limit: "Comlink call, 256 in flight", goal: 1 },
  { subject: "tell, one way", limit: "raw postMessage, one way", goal: 0.25 },
]);

function compare(title: string, comparisons: readonly Comparison[]): void {
  const rows = comparisons.map(({ subject, limit, goal }) => {
    const rate = measured.get(subject) ?? Number.NaN;
    const best = measured.get(limit) ?? Number.NaN;
    return [
      subject,
      whole(rate),
      limit,
      whole(best),
      percent(rate / best),
      `>= ${percent(goal)}`,
      met(rate / best >= goal),
    ];
  });
  printTable(`${title} (median of ${rounds})`, ["what", "rate", "limit", "its rate", "share", "goal", ""], rows);
}
