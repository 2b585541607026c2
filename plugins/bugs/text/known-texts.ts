/**
 * Texts of which a fact is known to be true, as copies within a bound: a known text is not examined again. They are
 * found by their length and both ends and then compared, since the engine's own hash reads every character. Of texts
 * with the same length and ends the last one is kept.
 */
export class KnownTexts {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  /** @param most characters in all */
  constructor(private readonly most: number) {}

  has(text: string): boolean {
    return this.#texts.get(keyOf(text)) === text;
  }

  /** Adds a text without lone surrogates. */
  add(text: string): void {
    const key = keyOf(text);
    const before = this.#texts.get(key);
    if (text.length > this.most || before === text) return;
    // A copy: the text may be a piece of a much larger one, which it would keep in memory.
    this.#texts.set(wholeCopyOf(key), copyOf(text));
    if (before === undefined) this.#characters += text.length;
    if (this.#characters > this.most) this.#forgetHalf();
  }

  /**
   * Forgets every second text, the oldest first: with age alone, texts that come in turn would always just have gone.
   */
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
/** A copy that keeps halves of pairs, where the ends may be cut: as UTF-8 they would be another key. */
const wholeCopyOf = (key: string): string => Buffer.from(key, 'utf16le').toString('utf16le');
