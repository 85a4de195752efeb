const maxKills = 60;
const maxChars = 10_000_000;

/** Removed texts that can be inserted again. Texts that are removed one after another become one. */
export class KillRing {
  /** Newest last. */
  readonly #texts: string[] = [];
  /** How many places Alt-Y has gone back. */
  #back = 0;
  #lastAction: "kill" | "yank" | undefined;
  #action: "kill" | "yank" | undefined;

  /** Must be called for each key, before what the key does. */
  nextKey(): void {
    this.#lastAction = this.#action;
    this.#action = undefined;
  }

  kill(text: string, side: "after" | "before"): void {
    if (text === "") return;
    const last = this.#lastAction === "kill" ? this.#texts.pop() : undefined;
    this.#texts.push(side === "after" ? (last ?? "") + text : text + (last ?? ""));
    this.#dropOldest();
    this.#action = "kill";
    this.#back = 0;
  }

  /** The newest text; undefined if there is none. */
  yank(): string | undefined {
    this.#back = 0;
    this.#action = "yank";
    return this.#texts.at(-1);
  }

  /** Right after a yank: the text that was inserted, and the one that replaces it. */
  yankPop(): { readonly inserted: string; readonly replacement: string } | undefined {
    if (this.#lastAction !== "yank") return undefined;
    const inserted = this.#texts.at(-1 - this.#back);
    this.#back = (this.#back + 1) % Math.max(1, this.#texts.length);
    const replacement = this.#texts.at(-1 - this.#back);
    if (inserted === undefined || replacement === undefined) return undefined;
    this.#action = "yank";
    return { inserted, replacement };
  }

  /** The texts name pastes of a text that exists no more. */
  mapTexts(change: (text: string) => string): void {
    for (const [index, text] of this.#texts.entries()) this.#texts[index] = change(text);
    this.#dropOldest();
  }

  #dropOldest(): void {
    let chars = this.#texts.reduce((sum, text) => sum + text.length, 0);
    while (this.#texts.length > 1 && (this.#texts.length > maxKills || chars > maxChars))
      chars -= this.#texts.shift()?.length ?? 0;
  }
}
