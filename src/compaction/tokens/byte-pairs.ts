/** Entries have eight bytes on average, so at most half of the slots are taken. */
const bytesPerSlot = 4;

/** No pair of parts is a token. Larger than any place in a vocabulary. */
const noToken = 0xffff_ffff;

/** A character of a JavaScript string has at most three bytes in UTF-8. */
const maxBytesPerChar = 3;

const minRoom = 1024;

/** The parameters of the hash FNV-1a. */
const [hashSeed, hashPrime] = [0x811c_9dc5, 0x0100_0193];

/**
 * Counts tokens by byte pair encoding. `vocabulary` has all tokens by rank, each as a byte with its length and its
 * bytes; it is used as it is, with a table of hashes beside it, because a map of two hundred thousand strings takes ten
 * times as long to fill and ten times the memory. A token is identified by its place in it: a lower place is a lower
 * rank.
 */
export class BytePairs {
  readonly #vocabulary: Uint8Array;
  /** Matches the pieces of a text that are encoded separately. */
  readonly #piece: RegExp;
  /** The places of the tokens' bytes by hash, each in the first free slot from its own on. Zero is a free slot. */
  readonly #slots: Uint32Array;
  readonly #encoder = new TextEncoder();
  /** The bytes of a piece, where its parts begin, and the token of each part with the next one. */
  #bytes = new Uint8Array();
  #starts = new Uint32Array();
  #pairs = new Uint32Array();
  /** Remembered, because long runs of a character come in equal pieces. */
  #joinedLast = { piece: "", tokens: 0 };

  constructor(vocabulary: Uint8Array, piece: RegExp) {
    this.#vocabulary = vocabulary;
    this.#piece = piece;
    this.#reserve(minRoom);
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(vocabulary.length / bytesPerSlot)));
    let place = 1;
    while (place <= vocabulary.length) {
      const end = place + (vocabulary[place - 1] ?? 0);
      this.#slots[this.#slotOf(vocabulary, place, end)] = place;
      place = end + 1;
    }
  }

  /** Counts the tokens of a text. Names of special tokens count as text. */
  count(text: string): number {
    let tokens = 0;
    for (const [piece] of text.matchAll(this.#piece)) tokens += this.#countPiece(piece);
    return tokens;
  }

  #countPiece(piece: string): number {
    const room = piece.length * maxBytesPerChar;
    if (room > this.#bytes.length) this.#reserve(room);
    if (piece === this.#joinedLast.piece) return this.#joinedLast.tokens;
    const { written } = this.#encoder.encodeInto(piece, this.#bytes);
    if (this.#tokenAt(0, written) !== noToken) return 1;
    this.#joinedLast = { piece, tokens: this.#joined(written) };
    return this.#joinedLast.tokens;
  }

  #reserve(bytes: number): void {
    this.#bytes = new Uint8Array(bytes);
    this.#starts = new Uint32Array(bytes + 1);
    this.#pairs = new Uint32Array(bytes);
  }

  /** Joins the two neighbouring parts that are the lowest token until no two are one, beginning with single bytes. */
  #joined(length: number): number {
    const [starts, pairs] = [this.#starts, this.#pairs];
    const pairAt = (index: number): number => this.#tokenAt(starts[index] ?? 0, starts[index + 2] ?? 0);
    for (let index = 0; index <= length; index++) starts[index] = index;
    for (let index = 0; index < length - 1; index++) pairs[index] = pairAt(index);
    for (let parts = length; ; parts--) {
      let lowest = noToken;
      let at = 0;
      for (let index = 0; index < parts - 1; index++) {
        const pair = pairs[index] ?? noToken;
        if (pair >= lowest) continue;
        lowest = pair;
        at = index;
      }
      if (lowest === noToken) return parts;
      for (let index = at + 1; index < parts; index++) {
        starts[index] = starts[index + 1] ?? 0;
        pairs[index - 1] = pairs[index] ?? noToken;
      }
      if (at < parts - 2) pairs[at] = pairAt(at);
      if (at > 0) pairs[at - 1] = pairAt(at - 1);
    }
  }

  #tokenAt(from: number, to: number): number {
    return this.#slots[this.#slotOf(this.#bytes, from, to)] || noToken;
  }

  /** Returns the slot of the token with these bytes, or the free one where it would be. */
  #slotOf(bytes: Uint8Array, from: number, to: number): number {
    const slots = this.#slots;
    let hash = hashSeed;
    for (let index = from; index < to; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), hashPrime);
    const last = slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & last;
    while (slots[slot] !== 0 && !this.#isAt(slots[slot] ?? 0, bytes, from, to)) slot = (slot + 1) & last;
    return slot;
  }

  #isAt(place: number, bytes: Uint8Array, from: number, to: number): boolean {
    const vocabulary = this.#vocabulary;
    if (vocabulary[place - 1] !== to - from) return false;
    for (let index = from; index < to; index++) if (vocabulary[place + index - from] !== bytes[index]) return false;
    return true;
  }
}
