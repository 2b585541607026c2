/** Checkpoints of the decoder state every few kilobytes are the starting points. */
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import type { BudgetCheck } from './cpu-budget.js';

/** Line and column are zero-based. */
export interface MappedPlace {
  source: number;
  line: number;
  column: number;
  name: number;
}

const CHECKPOINT_BYTES = 4_096;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const INVALID_DIGIT = 64;
/** Numbers have at most 32 bits. */
const MAX_DIGITS = 7;

const DIGIT_VALUES = new Uint8Array(256).fill(INVALID_DIGIT);
Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/').forEach((digit, i) => {
  DIGIT_VALUES[digit] = i;
});

const createDamagedMapError = (): SourceMapRejected => new SourceMapRejected('has damaged mappings');

class MappingCursor {
  at = 0;
  line = 0;
  column = 0;
  source = 0;
  sourceLine = 0;
  sourceColumn = 0;
  name = 0;
  /** Number of fields of the current mapping: 1, 4 or 5. */
  fields = 0;

  constructor(readonly bytes: Buffer) {}

  /** @throws MapRefused */
  next(): boolean {
    const { bytes } = this;
    for (;;) {
      if (this.at >= bytes.length) return false;
      const byte = bytes[this.at];
      if (byte === SEMICOLON) {
        this.line++;
        this.column = 0;
      } else if (byte !== COMMA) break;
      this.at++;
    }
    this.column += this.#readNumber();
    this.fields = 1;
    if (this.#isAtEnd()) return true;
    this.source += this.#readNumber();
    this.sourceLine += this.#readNumber();
    this.sourceColumn += this.#readNumber();
    this.fields = 4;
    if (this.#isAtEnd()) return true;
    this.name += this.#readNumber();
    this.fields = 5;
    while (!this.#isAtEnd()) this.#readNumber();
    return true;
  }

  #isAtEnd(): boolean {
    const byte = this.bytes[this.at];
    return byte === COMMA || byte === SEMICOLON || byte === undefined;
  }

  #readNumber(): number {
    let value = 0;
    for (let n = 0; n < MAX_DIGITS; n++) {
      const digit = DIGIT_VALUES[this.bytes[this.at++] ?? 0] ?? INVALID_DIGIT;
      if (digit === INVALID_DIGIT) break;
      value |= (digit & 31) << (5 * n);
      if (digit < 32) return value & 1 ? -(value >>> 1) : value >>> 1;
    }
    throw createDamagedMapError();
  }
}

const CHECKPOINT_FIELDS = ['at', 'line', 'column', 'source', 'sourceLine', 'sourceColumn', 'name', 'fields'] as const;

export class MappingIndex {
  readonly #notes: Int32Array;
  readonly #count: number;
  /** Whether the columns of each line ascend, as in nearly all tools. */
  readonly #isSorted: boolean;

  /** @throws MapRefused */
  constructor(
    private readonly mappings: Buffer,
    spend: BudgetCheck,
  ) {
    const notes = new Int32Array((Math.ceil(mappings.length / CHECKPOINT_BYTES) + 1) * CHECKPOINT_FIELDS.length);
    const cursor = new MappingCursor(mappings);
    let count = 0;
    let isSorted = true;
    let before = { line: 0, column: -1 };
    const note = (): void => {
      for (const [i, field] of CHECKPOINT_FIELDS.entries()) notes[count * CHECKPOINT_FIELDS.length + i] = cursor[field];
      count++;
      spend();
    };
    note();
    for (let due = CHECKPOINT_BYTES; cursor.next();) {
      if (cursor.line === before.line && cursor.column < before.column) isSorted = false;
      before.line = cursor.line;
      before.column = cursor.column;
      if (cursor.at < due) continue;
      note();
      due = cursor.at + CHECKPOINT_BYTES;
    }
    this.#notes = notes;
    this.#count = count;
    this.#isSorted = isSorted;
  }

  get bytes(): number {
    return this.#notes.byteLength;
  }

  /** Or the last mapping before it in the line. */
  find(line: number, column: number): MappedPlace | null {
    const cursor = this.#createCursorBefore(line, this.#isSorted ? column : -1);
    let found: MappedPlace | null = null;
    let at = -1;
    // The checkpoint's own mapping may match; at the beginning it does not exist.
    for (let has = cursor.fields > 0 || cursor.next(); has && cursor.line <= line; has = cursor.next()) {
      if (cursor.line < line) continue;
      if (cursor.column > column) {
        if (this.#isSorted) break;
        continue;
      }
      // The first of several mappings at the exact position wins.
      if (cursor.column < at || (cursor.column === at && at === column)) continue;
      at = cursor.column;
      found = cursor.fields === 1 ? null : toMappedPlace(cursor);
    }
    return found;
  }

  #createCursorBefore(line: number, column: number): MappingCursor {
    const notes = this.#notes;
    let low = 0;
    let high = this.#count;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      const noted = middle * CHECKPOINT_FIELDS.length;
      const isBefore =
        (notes[noted + 1] ?? 0) < line || (notes[noted + 1] === line && (notes[noted + 2] ?? 0) < column);
      if (isBefore) low = middle;
      else high = middle;
    }
    const cursor = new MappingCursor(this.mappings);
    for (const [i, field] of CHECKPOINT_FIELDS.entries())
      cursor[field] = notes[low * CHECKPOINT_FIELDS.length + i] ?? 0;
    return cursor;
  }
}

const toMappedPlace = ({ source, sourceLine, sourceColumn, name, fields }: MappingCursor): MappedPlace => ({
  source,
  line: sourceLine,
  column: sourceColumn,
  name: fields === 5 ? name : -1,
});
