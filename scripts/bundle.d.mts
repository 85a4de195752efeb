import type { OutputChunk } from "rolldown";

export interface BundleOptions {
  readonly format: "esm" | "cjs";
  readonly input: Readonly<Record<string, string>>;
  /** The output folder; without it nothing is written. */
  readonly directory?: string;
}

export function bundle(options: BundleOptions): Promise<OutputChunk[]>;
