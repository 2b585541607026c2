/** Parses large JSON in pieces, so that it does not block the event loop. */
import { setImmediate as turn } from 'node:timers/promises';

/** Bytes parsed in a single step. */
export const PIECE_BYTES = 256 * 1024;
/**
 * Nesting levels that are split: a list of reports, a report, its context and a value of the
 * context.
 */
const MAX_SPLIT_DEPTH = 4;
const YIELD_INTERVAL_MS = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSING_BYTES: Readonly<Record<number, number>> = { 0x22: 0x22, 0x5b: 0x5d, 0x7b: 0x7d };

type ByteRange = readonly [from: number, to: number];

/** @throws SyntaxError */
export async function parseInPieces(bytes: Buffer): Promise<unknown> {
  return new PiecewiseParser(bytes).parseValue([0, bytes.length], 0);
}

class PiecewiseParser {
  #began = performance.now();

  constructor(private readonly bytes: Buffer) {}

  async parseValue(range: ByteRange, depth: number): Promise<unknown> {
    const [from, to] = this.#trim(range);
    const first = this.bytes[from] ?? 0;
    const last = this.bytes[to - 1];
    if (to - from <= PIECE_BYTES || depth > MAX_SPLIT_DEPTH) return this.#parse(from, to);
    const closing = CLOSING_BYTES[first];
    if (closing === undefined) return this.#parse(from, to);
    if (closing !== last) throw new SyntaxError('opening and closing brackets do not match');
    if (first === QUOTE) return this.#parseString(from + 1, to - 1);
    const inside = this.#trim([from + 1, to - 1]);
    if (inside[0] === inside[1]) return this.#parse(from, from + 1, this.bytes.toString('latin1', to - 1, to));
    const members = await this.#split(inside);
    return first === 0x5b ? this.#parseArray(members, depth) : this.#parseObject(members, depth);
  }

  async #parseArray(members: readonly ByteRange[], depth: number): Promise<unknown[]> {
    const values: unknown[] = [];
    for (const member of members) {
      await this.#yieldIfDue();
      values.push(await this.parseValue(member, depth + 1));
    }
    return values;
  }

  /** Like `JSON.parse`: a later name wins, and `__proto__` is a plain name. */
  async #parseObject(members: readonly ByteRange[], depth: number): Promise<object> {
    const entries: [string, unknown][] = [];
    for (const member of members) {
      await this.#yieldIfDue();
      const [from, to] = this.#trim(member);
      const colon = to - from > PIECE_BYTES ? this.#findColon(from) : -1;
      if (colon >= 0)
        entries.push([String(this.#parse(from, colon)), await this.parseValue([colon + 1, to], depth + 1)]);
      else if (from === to) throw new SyntaxError('trailing comma');
      else entries.push(...Object.entries(JSON.parse(`{${this.bytes.toString('utf8', from, to)}}`) as object));
    }
    return Object.fromEntries(entries);
  }

  async #parseString(from: number, to: number): Promise<string> {
    const { bytes } = this;
    const texts: string[] = [];
    let start = from;
    for (let at = from; at < to;) {
      if (bytes[at] === BACKSLASH) at += bytes[at + 1] === 0x75 ? 6 : 2;
      else at++;
      if (at < to && (at - start < PIECE_BYTES || isContinuation(bytes[at]))) continue;
      await this.#yieldIfDue();
      texts.push(String(JSON.parse(`"${bytes.toString('utf8', start, Math.min(at, to))}"`)));
      start = at;
    }
    return texts.join('');
  }

  async #split([from, to]: ByteRange): Promise<ByteRange[]> {
    const { bytes } = this;
    const members: ByteRange[] = [];
    let [start, depth, inText] = [from, 0, false];
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (inText) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === 0x7b || byte === 0x5b) depth++;
      else if (byte === 0x7d || byte === 0x5d) depth--;
      else if (byte === COMMA && depth === 0) {
        members.push([start, at]);
        start = at + 1;
      }
      if (at % PIECE_BYTES === 0) await this.#yieldIfDue();
    }
    return [...members, [start, to]];
  }

  #findColon(from: number): number {
    const { bytes } = this;
    if (bytes[from] !== QUOTE) return -1;
    let at = from + 1;
    for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    at++;
    while (isSpace(bytes[at])) at++;
    return bytes[at] === COLON ? at : -1;
  }

  #parse(from: number, to: number, more = ''): unknown {
    return JSON.parse(this.bytes.toString('utf8', from, to) + more);
  }

  #trim([from, to]: ByteRange): ByteRange {
    while (from < to && isSpace(this.bytes[from])) from++;
    while (to > from && isSpace(this.bytes[to - 1])) to--;
    return [from, to];
  }

  async #yieldIfDue(): Promise<void> {
    if (performance.now() - this.#began < YIELD_INTERVAL_MS) return;
    await turn();
    this.#began = performance.now();
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
