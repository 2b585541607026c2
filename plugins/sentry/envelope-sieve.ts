/**
 * Leaves payloads of an envelope out while it arrives: attachments and other items that this service does not store,
 * and stored ones beyond their size, an event aside. So an event beside a large screenshot costs what the event costs.
 * The header of such an item stays, with `length` 0 and what was `skipped`.
 */
import type { BodySieve } from '../../ports/http.js';
import { LONGEST_HEADER, parseHeader } from './envelope.js';

const LF = 0x0a;
const CR = 0x0d;

type Mode = 'header' | 'item' | 'copy' | 'skip' | 'copy line' | 'skip line' | 'rest';

export class EnvelopeSieve implements BodySieve {
  #mode: Mode = 'header';
  /** Of an item's header whose end has not arrived. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** Bytes of the payload that are still to come. */
  #left = 0;

  /**
   * @param stores whether items of this type are stored
   * @param most bytes of one item that is no event
   */
  constructor(
    private readonly stores: (type: string) => boolean,
    private readonly most: number,
  ) {}

  push(piece: Buffer): Buffer[] {
    const kept: Buffer[] = [];
    for (let at = 0; at < piece.length;) at = this.#step(piece, at, kept);
    return kept;
  }

  end(): Buffer[] {
    return this.#line;
  }

  /** Reads on from `at`; answers where it stopped. */
  #step(piece: Buffer, at: number, kept: Buffer[]): number {
    const mode = this.#mode;
    if (mode === 'copy' || mode === 'skip') return this.#payload(piece, at, kept);
    if (mode === 'item') return this.#item(piece, at, kept);
    if (mode !== 'rest') return this.#lineEnd(piece, at, kept);
    kept.push(piece.subarray(at));
    return piece.length;
  }

  #payload(piece: Buffer, at: number, kept: Buffer[]): number {
    const end = Math.min(piece.length, at + this.#left);
    if (this.#mode === 'copy') kept.push(piece.subarray(at, end));
    this.#left -= end - at;
    if (this.#left === 0) this.#mode = 'item';
    return end;
  }

  #lineEnd(piece: Buffer, at: number, kept: Buffer[]): number {
    const found = piece.indexOf(LF, at);
    const end = found < 0 ? piece.length : found + 1;
    if (this.#mode !== 'skip line') kept.push(piece.subarray(at, end));
    else if (found >= 0) kept.push(piece.subarray(found, end));
    if (found >= 0) this.#mode = 'item';
    return end;
  }

  #item(piece: Buffer, at: number, kept: Buffer[]): number {
    if (this.#lineBytes === 0 && (piece[at] === LF || piece[at] === CR)) {
      kept.push(piece.subarray(at, at + 1));
      return at + 1;
    }
    const found = piece.indexOf(LF, at);
    const end = found < 0 ? piece.length : found + 1;
    this.#line.push(piece.subarray(at, end));
    this.#lineBytes += end - at;
    if (found < 0 && this.#lineBytes <= LONGEST_HEADER) return end;
    const line = Buffer.concat(this.#line, this.#lineBytes);
    this.#line = [];
    this.#lineBytes = 0;
    this.#open(line, kept);
    return end;
  }

  /** Decides about an item by its header. One that cannot be read leaves the rest to whoever reads the envelope. */
  #open(line: Buffer, kept: Buffer[]): void {
    const { type, length } = parseHeader(line) ?? {};
    const isSized = typeof length === 'number' && Number.isSafeInteger(length) && length >= 0;
    if (typeof type !== 'string' || (!isSized && length !== undefined && length !== null)) {
      kept.push(line);
      this.#mode = 'rest';
      return;
    }
    const skips = type !== 'event' && (!this.stores(type) || (isSized && length > this.most));
    if (isSized) this.#left = length;
    if (isSized) this.#mode = length === 0 ? 'item' : skips ? 'skip' : 'copy';
    else this.#mode = skips ? 'skip line' : 'copy line';
    const short = JSON.stringify({ type, length: 0, skipped: isSized ? length : true });
    kept.push(skips && this.#mode !== 'item' ? Buffer.from(`${short}\n`) : line);
  }
}
