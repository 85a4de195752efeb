import { type Call, type CallOutput, type CustomItem, isCall, isCallOutput, type SentItem } from "./sent-item.js";

/** What the model reads as the output of a call that has none. */
export const interruptedOutput = "interrupted, result unknown";

/** Calls that stand together, as a model asks for them at once. */
interface CallGroup {
  readonly type: "call_group";
  readonly calls: Call[];
  readonly outputs: CallOutput[];
  readonly open: Set<Call>;
}

/**
 * Every call has one id of its own and one output, and the outputs stand directly behind the calls that were made
 * together. An output belongs to the first call of its id that stands before it and has none yet.
 */
export function paired(items: readonly (SentItem | CustomItem)[], maxCallIdChars: number): (SentItem | CustomItem)[] {
  const ids = new CallIds(
    items.filter(isCall).map((call) => call.call_id),
    maxCallIdChars,
  );
  const entries: (Exclude<SentItem | CustomItem, Call | CallOutput> | CallGroup)[] = [];
  const waiting = new Map<string, { call: Call; group: CallGroup }[]>();
  let group: CallGroup | undefined;
  for (const item of items) {
    if (isCall(item)) {
      if (group === undefined) entries.push((group = { type: "call_group", calls: [], outputs: [], open: new Set() }));
      const call = withId(item, ids.give(item.call_id));
      group.calls.push(call);
      group.open.add(call);
      const slot = { call, group };
      const slots = waiting.get(item.call_id);
      if (slots === undefined) waiting.set(item.call_id, [slot]);
      else slots.push(slot);
    } else if (isCallOutput(item)) {
      const answered = waiting.get(item.call_id)?.shift();
      if (answered === undefined) continue;
      answered.group.outputs.push(outputOf(answered.call, item));
      answered.group.open.delete(answered.call);
      group = undefined;
    } else {
      entries.push(item);
      group = undefined;
    }
  }
  return entries.flatMap<SentItem | CustomItem>((entry) => (entry.type === "call_group" ? closed(entry) : entry));
}

function closed({ calls, outputs, open }: CallGroup): (Call | CallOutput)[] {
  const missing = [...open].map((call): CallOutput => ({
    type: `${call.type}_output`,
    call_id: call.call_id,
    output: interruptedOutput,
  }));
  return [...calls, ...outputs, ...missing];
}

function withId(call: Call, call_id: string): Call {
  return call.call_id === call_id ? call : { ...call, call_id };
}

/** The output as that of its call, also where an older version wrote the one kind for the other. */
function outputOf({ type, call_id }: Call, item: CallOutput): CallOutput {
  const outputType = `${type}_output` as const;
  return item.type === outputType && item.call_id === call_id ? item : { ...item, type: outputType, call_id };
}

/** Gives calls ids that are unique and that the API takes; an id that is both already stays. */
class CallIds {
  readonly #maxChars: number;
  readonly #given = new Set<string>();
  readonly #taken: ReadonlySet<string>;
  readonly #next = new Map<string, number>();

  /** `all` are the ids of the whole history: a new id must not be one a later call has. */
  constructor(all: Iterable<string>, maxChars: number) {
    this.#taken = new Set(all);
    this.#maxChars = maxChars;
  }

  give(id: string): string {
    const given = this.#isFit(id) && !this.#given.has(id) ? id : this.#fresh(id);
    this.#given.add(given);
    return given;
  }

  #isFit(id: string): boolean {
    return id.length <= this.#maxChars && /^[A-Za-z0-9_-]+$/.test(id);
  }

  #fresh(id: string): string {
    const base = id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "call";
    // Counted for each base, as thousands of calls may share an id.
    for (let count = this.#next.get(base) ?? 1; ; count++) {
      const suffix = count === 1 ? "" : `_${count}`;
      const candidate = base.slice(0, this.#maxChars - suffix.length) + suffix;
      if (this.#taken.has(candidate) || this.#given.has(candidate)) continue;
      this.#next.set(base, count + 1);
      return candidate;
    }
  }
}
