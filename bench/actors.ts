// Measures message rates of actors, compared with bare queues.
import { actorFlood, actorPingPong, bareFlood, barePingPong } from "./support/message-rates.js";
import { interleaved } from "./support/measure.js";
import { met, percent, printTable, whole } from "./support/table.js";

const rounds = 9;
const hops = 200_000;

interface Comparison {
  readonly subject: string;
  readonly limit: string;
  readonly goal: number;
}

const measured = await interleaved(rounds, [
  { name: "bare ping-pong", measure: () => barePingPong(hops) },
  { name: "actor ping-pong", measure: () => actorPingPong(hops) },
  { name: "bare flood", measure: () => bareFlood(hops) },
  { name: "actor flood", measure: () => actorFlood(hops) },
]);

compare("Two actors in one thread, messages/s", [
  { subject: "actor ping-pong", limit: "bare ping-pong", goal: 0.25 },
  { subject: "actor flood", limit: "bare flood", goal: 0.25 },
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
