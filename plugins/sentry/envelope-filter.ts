/**
 * Drops unsupported items, such as attachments, and oversized ones other than events, while they
 * arrive. The header stays, with `length` 0 and the `skipped` size.
 */
import type { BodyFilter } from '../../ports/http/index.js';
import { MAX_HEADER_BYTES, parseHeader } from './envelope.js';

const LF = 0x0a;
const CR = 0x0d;

type EnvelopeFilterMode = 'header' | 'item' | 'copy' | 'skip' | 'copy line' | 'skip line' | 'rest';

export class EnvelopeFilter implements BodyFilter {
  #mode: EnvelopeFilterMode = 'header';
  #line: Buffer[] = [];
  #lineBytes = 0;
  #remainingBytes = 0;

  /**
   * @param stores whether this type is stored
   * @param most maximum bytes of an item other than an event
   */
  constructor(
    private readonly stores: (type: string) => boolean,
    private readonly most: number,
  ) {}

  push(piece: Buffer): Buffer[] {
    const retained: Buffer[] = [];
    for (let at = 0; at < piece.length;) at = this.#processChunk(piece, at, retained);
    return retained;
  }

  end(): Buffer[] {
    return this.#line;
  }

  #processChunk(piece: Buffer, at: number, retained: Buffer[]): number {
    const mode = this.#mode;
    if (mode === 'copy' || mode === 'skip') return this.#readPayload(piece, at, retained);
    if (mode === 'item') return this.#readItem(piece, at, retained);
    if (mode !== 'rest') return this.#readLineEnd(piece, at, retained);
    retained.push(piece.subarray(at));
    return piece.length;
  }

  #readPayload(piece: Buffer, at: number, retained: Buffer[]): number {
    const end = Math.min(piece.length, at + this.#remainingBytes);
    if (this.#mode === 'copy') retained.push(piece.subarray(at, end));
    this.#remainingBytes -= end - at;
    if (this.#remainingBytes === 0) this.#mode = 'item';
    return end;
  }

  #readLineEnd(piece: Buffer, at: number, retained: Buffer[]): number {
    const found = piece.indexOf(LF, at);
    const end = found < 0 ? piece.length : found + 1;
    if (this.#mode !== 'skip line') retained.push(piece.subarray(at, end));
    else if (found >= 0) retained.push(piece.subarray(found, end));
    if (found >= 0) this.#mode = 'item';
    return end;
  }

  #readItem(piece: Buffer, at: number, retained: Buffer[]): number {
    if (this.#lineBytes === 0 && (piece[at] === LF || piece[at] === CR)) {
      retained.push(piece.subarray(at, at + 1));
      return at + 1;
    }
    const found = piece.indexOf(LF, at);
    const end = found < 0 ? piece.length : found + 1;
    this.#line.push(piece.subarray(at, end));
    this.#lineBytes += end - at;
    if (found < 0 && this.#lineBytes <= MAX_HEADER_BYTES) return end;
    const line = Buffer.concat(this.#line, this.#lineBytes);
    this.#line = [];
    this.#lineBytes = 0;
    this.#openItem(line, retained);
    return end;
  }

  /** An unreadable header is left to the envelope parser. */
  #openItem(line: Buffer, retained: Buffer[]): void {
    const { type, length } = parseHeader(line) ?? {};
    const isSized = typeof length === 'number' && Number.isSafeInteger(length) && length >= 0;
    if (typeof type !== 'string' || (!isSized && length !== undefined && length !== null)) {
      retained.push(line);
      this.#mode = 'rest';
      return;
    }
    const skips = type !== 'event' && (!this.stores(type) || (isSized && length > this.most));
    if (isSized) this.#remainingBytes = length;
    if (isSized) this.#mode = length === 0 ? 'item' : skips ? 'skip' : 'copy';
    else this.#mode = skips ? 'skip line' : 'copy line';
    const short = JSON.stringify({ type, length: 0, skipped: isSized ? length : true });
    retained.push(skips && this.#mode !== 'item' ? Buffer.from(`${short}\n`) : line);
  }
}
