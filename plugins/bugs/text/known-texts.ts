/**
 * Texts of which something is known to be true, as copies of its own and within a bound: a text that is gone is looked
 * at again. They are found by their length and both ends and then compared: for the engine's own hash every character
 * would be gone through. Of those with the same length and ends one is kept, the last.
 */
export class KnownTexts {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  /** @param most characters in all */
  constructor(private readonly most: number) {}

  has(text: string): boolean {
    return this.#texts.get(keyOf(text)) === text;
  }

  /** Without lone surrogates. */
  add(text: string): void {
    const key = keyOf(text);
    const before = this.#texts.get(key);
    if (text.length > this.most || before === text) return;
    // A copy: the text may be a piece of a much larger one, which it would keep in memory.
    this.#texts.set(wholeCopyOf(key), copyOf(text));
    if (before === undefined) this.#characters += text.length;
    if (this.#characters > this.most) this.#forgetHalf();
  }

  /** Every second one, the oldest first: texts that come in turn would always just have gone if age alone decided. */
  #forgetHalf(): void {
    let keep = false;
    for (const [key, text] of this.#texts) {
      if (keep || this.#characters <= this.most / 2) keep = false;
      else {
        this.#texts.delete(key);
        this.#characters -= text.length;
        keep = true;
      }
    }
  }
}

/** Characters of either end. */
const END = 40;
const keyOf = (text: string): string => `${text.length} ${text.slice(0, END)} ${text.slice(-END)}`;
const copyOf = (text: string): string => Buffer.from(text).toString();
/** With the halves of pairs that the ends may be cut in: as UTF-8 they would be another key. */
const wholeCopyOf = (key: string): string => Buffer.from(key, 'utf16le').toString('utf16le');
