import type { Input } from "../terminal.js";

/** Lines that were pasted and not sent yet: the line breaks of a paste are text, and only a person sends. */
export class Pastes {
  readonly #input: Input;
  readonly #lines: string[] = [];
  #isPasting = false;
  readonly #onKey = (_text: unknown, { name }: { readonly name?: string }): void => {
    if (name === "paste-start") this.#isPasting = true;
    if (name === "paste-end") this.#isPasting = false;
  };

  constructor(input: Input) {
    this.#input = input;
    input.on("keypress", this.#onKey);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** What is sent with the end of a line; nothing while that is the end of a pasted one. */
  take(line: string): string | undefined {
    this.#lines.push(line);
    return this.#isPasting ? undefined : this.#lines.splice(0).join("\n");
  }

  /** Throws them away, and a paste that has no end with them. */
  clear(): void {
    this.#isPasting = false;
    this.#lines.length = 0;
  }

  /** Takes them away until they are put back; what is being pasted goes on being pasted. */
  setAside(): string[] {
    return this.#lines.splice(0);
  }

  putBack(lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  release(): void {
    this.#input.off("keypress", this.#onKey);
  }
}
