/**
 * Rows that a worker has rendered (page-renderer.ts), the last one of each document. The function is pure, so a row
 * with the same documents and context is not rendered again: the same lists are read again and again, and few of their
 * rows have changed. A row is found by the document's id and its text is compared, since V8's hash of a text reads all
 * of it, one character at a time.
 */
import { Buffer } from 'node:buffer';
import { idIn } from '../driver/damage.js';

interface MadeRow {
  id: string;
  /** The document, the one beside it, and the context, for which it was made. */
  body: string;
  beside: string | null;
  context: string;
  /** Text if it is ASCII, else its UTF-8. */
  json: string | Uint8Array;
}

/** Characters that are kept: some thousand rows. */
const MOST = 2_000_000;
/** Characters of the longest row that is kept. */
const LONGEST = 16_384;

/** Without its id at a usual place a document shares its key with others, of which the last one is kept. */
const keyOf = (body: string): string => idIn(body) ?? '';

export class MadeRows {
  readonly #rows = new Map<string, MadeRow>();
  #size = 0;

  /** What is known of a document with this text. */
  of(body: string): MadeRow | undefined {
    const row = this.#rows.get(keyOf(body));
    return row?.body === body ? row : undefined;
  }

  /** Too many rows, and all are forgotten: those that lists still show are soon here again. */
  keep(row: MadeRow): void {
    const size = sizeOf(row);
    if (size > LONGEST) return;
    if (this.#size + size > MOST) this.#clear();
    const key = copyOf(keyOf(row.body));
    const old = this.#rows.get(key);
    this.#size += size - (old === undefined ? 0 : sizeOf(old));
    this.#rows.set(key, { ...row, body: copyOf(row.body), beside: row.beside && copyOf(row.beside) });
  }

  #clear(): void {
    this.#rows.clear();
    this.#size = 0;
  }
}

const sizeOf = ({ body, beside, json }: MadeRow): number => body.length + json.length + (beside?.length ?? 0);

/** The text may be a piece of that of a whole page (../driver/packed.ts), which it would keep in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();
