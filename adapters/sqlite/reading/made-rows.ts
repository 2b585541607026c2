/**
 * Rows that a worker has rendered (page-renderer.ts), by the text of their documents. The function is pure, so a row
 * with the same documents and context is not rendered again: the same lists are read again and again, and few of their
 * rows have changed.
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
/** Characters of the longest row that is kept. */
const LONGEST = 16_384;

export class MadeRows {
  /** By the document's text and the function. */
  readonly #rows = new Map<string, MadeRow>();
  #size = 0;

  /** What is known of a document with this text. */
  of(body: string): MadeRow | undefined {
    return this.#rows.get(body);
  }

  /** Too many rows, and all are forgotten: those that lists still show are soon here again. */
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
