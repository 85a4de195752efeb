import { onTestFinished } from "vitest";
import { RequestGate, startLimits } from "../../src/actors/limits/limits.js";
import type { RequestLimits } from "../../src/messages/settings/config.js";

type Gates<Clients extends readonly string[]> = { readonly [Index in keyof Clients]: RequestGate };

/** A limits actor with the gates of several threads; it stops at the end of the test. */
export function openGates<const Clients extends readonly string[]>(
  limits: Readonly<Record<string, RequestLimits>>,
  clients: Clients,
) {
  const ref = startLimits(limits, (event) => {
    for (const gate of gates) gate.receive(event);
  });
  const gates = clients.map((client) => new RequestGate(ref, { client, limited: Object.keys(limits) }));
  onTestFinished(() => ref.stop());
  return { ref, gates: gates as unknown as Gates<Clients> };
}

/** A gate with a limits actor of its own. */
export function openGate(limits: Readonly<Record<string, RequestLimits>>): RequestGate {
  return openGates(limits, ["test"]).gates[0];
}
