/**
 * What was made of documents (renderer.ts), by their text: a row whose documents and context are the same is not made
 * again, for the function is pure. Lists are asked for again and again, and few of their rows have changed. The
 * worker's own.
 */
interface MadeRow {
  id: string;
  /** The text beside it, and the context, for which it was made. */
  beside: string | null;
  context: string;
  /** Text if it is ASCII, else its UTF-8. */
  json: string | Uint8Array;
}

/** Characters that are kept: some thousand rows. */
const MOST = 2_000_000;
/** Of one row. */
const LONGEST = 16_384;

export class MadeRows {
  /** By the document's text and the function. */
  readonly #rows = new Map<string, MadeRow>();
  #size = 0;

  /** What is known of a document with this text. */
  of(body: string): MadeRow | undefined {
    return this.#rows.get(body);
  }

  /** All are forgotten when they are too many: those that are still asked for are soon here again. */
  keep(body: string, row: MadeRow): void {
    const size = sizeOf(body, row);
    if (size > LONGEST) return;
    if (this.#size + size > MOST) this.#clear();
    const old = this.#rows.get(body);
    this.#size += size - (old === undefined ? 0 : sizeOf(body, old));
    this.#rows.set(body, row);
  }

  #clear(): void {
    this.#rows.clear();
    this.#size = 0;
  }
}

const sizeOf = (body: string, { beside, json }: MadeRow): number => body.length + json.length + (beside?.length ?? 0);
