/** Texts of which something is known to be true, as copies of its own and within a bound: a text that is gone is looked at again. */
export class KnownTexts {
  readonly #texts = new Set<string>();
  #characters = 0;

  /** @param most characters in all */
  constructor(private readonly most: number) {}

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Without lone surrogates. */
  add(text: string): void {
    if (text.length > this.most || this.#texts.has(text)) return;
    // A copy: the text may be a piece of a much larger one, which it would keep in memory.
    this.#texts.add(Buffer.from(text).toString());
    this.#characters += text.length;
    if (this.#characters > this.most) this.#forgetHalf();
  }

  /** Every second one, the oldest first: texts that come in turn would always just have gone if age alone decided. */
  #forgetHalf(): void {
    let keep = false;
    for (const text of this.#texts) {
      if (keep || this.#characters <= this.most / 2) keep = false;
      else {
        this.#texts.delete(text);
        this.#characters -= text.length;
        keep = true;
      }
    }
  }
}
