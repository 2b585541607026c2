/**
 * Parses large JSON in pieces, so that it does not block the event loop. Each piece goes through
 * `JSON.parse`. A worker thread would have to copy the result back.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** Bytes parsed in a single step. */
export const PIECE = 256 * 1024;
/**
 * Nesting levels that are split: a list of reports, a report, its context and a value of the
 * context. Deeper values are parsed in a single step.
 */
const DEEPEST = 4;
const TURN_MS = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSING: Readonly<Record<number, number>> = { 0x22: 0x22, 0x5b: 0x5d, 0x7b: 0x7d };

type Range = readonly [from: number, to: number];

/** @throws SyntaxError */
export async function parseInPieces(bytes: Buffer): Promise<unknown> {
  return new Pieces(bytes).value([0, bytes.length], 0);
}

class Pieces {
  #began = performance.now();

  constructor(private readonly bytes: Buffer) {}

  async value(range: Range, depth: number): Promise<unknown> {
    const [from, to] = this.#trim(range);
    const first = this.bytes[from] ?? 0;
    const last = this.bytes[to - 1];
    if (to - from <= PIECE || depth > DEEPEST) return this.#parse(from, to);
    const closing = CLOSING[first];
    if (closing === undefined) return this.#parse(from, to);
    if (closing !== last) throw new SyntaxError('the end does not fit the beginning');
    if (first === QUOTE) return this.#text(from + 1, to - 1);
    const inside = this.#trim([from + 1, to - 1]);
    if (inside[0] === inside[1]) return this.#parse(from, from + 1, this.bytes.toString('latin1', to - 1, to));
    const members = await this.#split(inside);
    return first === 0x5b ? this.#array(members, depth) : this.#object(members, depth);
  }

  async #array(members: readonly Range[], depth: number): Promise<unknown[]> {
    const values: unknown[] = [];
    for (const member of members) {
      await this.#breathe();
      values.push(await this.value(member, depth + 1));
    }
    return values;
  }

  /**
   * Uses `fromEntries`, which behaves like `JSON.parse`: a later name wins, and `__proto__` is a
   * plain name.
   */
  async #object(members: readonly Range[], depth: number): Promise<object> {
    const entries: [string, unknown][] = [];
    for (const member of members) {
      await this.#breathe();
      const [from, to] = this.#trim(member);
      const colon = to - from > PIECE ? this.#colonOf(from) : -1;
      if (colon >= 0) entries.push([String(this.#parse(from, colon)), await this.value([colon + 1, to], depth + 1)]);
      else if (from === to) throw new SyntaxError('a comma without a member');
      else entries.push(...Object.entries(JSON.parse(`{${this.bytes.toString('utf8', from, to)}}`) as object));
    }
    return Object.fromEntries(entries);
  }

  async #text(from: number, to: number): Promise<string> {
    const { bytes } = this;
    const texts: string[] = [];
    let start = from;
    for (let at = from; at < to;) {
      if (bytes[at] === BACKSLASH) at += bytes[at + 1] === 0x75 ? 6 : 2;
      else at++;
      if (at < to && (at - start < PIECE || isContinuation(bytes[at]))) continue;
      await this.#breathe();
      texts.push(String(JSON.parse(`"${bytes.toString('utf8', start, Math.min(at, to))}"`)));
      start = at;
    }
    return texts.join('');
  }

  async #split([from, to]: Range): Promise<Range[]> {
    const { bytes } = this;
    const members: Range[] = [];
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
      if (at % PIECE === 0) await this.#breathe();
    }
    return [...members, [start, to]];
  }

  #colonOf(from: number): number {
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

  #trim([from, to]: Range): Range {
    while (from < to && isSpace(this.bytes[from])) from++;
    while (to > from && isSpace(this.bytes[to - 1])) to--;
    return [from, to];
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#began < TURN_MS) return;
    await turn();
    this.#began = performance.now();
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
