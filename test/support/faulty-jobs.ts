/**
 * Jobs for every fault in a pool thread; `channel` is a BroadcastChannel that receives a message when a job has
 * started.
 */
export type FaultyJobs = {
  readonly echo: { readonly input: unknown; readonly output: unknown };
  readonly thread: { readonly input: null; readonly output: number };
  readonly environment: { readonly input: null; readonly output: { env: NodeJS.ProcessEnv; execArgv: string[] } };
  readonly throw: { readonly input: string; readonly output: never };
  readonly fail: { readonly input: string; readonly output: never };
  readonly exit: { readonly input: number; readonly output: never };
  readonly uncaught: { readonly input: string; readonly output: never };
  readonly spin: { readonly input: { readonly channel: string }; readonly output: never };
  readonly out_of_memory: { readonly input: null; readonly output: never };
  /** Allocates this many times the bytes of its input in buffers, which no heap limit counts. */
  readonly buffers: { readonly input: { readonly bytes: Uint8Array; readonly times: number }; readonly output: number };
  readonly unclonable: { readonly input: null; readonly output: unknown };
  readonly deep: { readonly input: number; readonly output: unknown };
  /** Waits until it is cancelled; a stubborn job ignores that. */
  readonly hold: {
    readonly input: { readonly channel: string; readonly stubborn: boolean };
    readonly output: string;
  };
  /** Starts, and ends when the channel receives a message. */
  readonly wait: { readonly input: { readonly channel: string }; readonly output: number };
};

export function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}
