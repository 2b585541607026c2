/**
 * Scans JSON in a buffer without building values, so that untrusted input controls neither memory
 * nor stack depth. Values are counted; skipped content is parsed leniently.
 */
import { MapRefused } from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface TextRange {
  start: number;
  end: number;
}

export interface ScanBounds {
  values: number;
  depth: number;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const noJson = (): MapRefused => new MapRefused('is no JSON');

export class JsonScanner {
  at: number;
  #values = 0;

  constructor(
    readonly bytes: Buffer,
    private readonly bounds: ScanBounds,
  ) {
    this.at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  peek(): number | undefined {
    while (isSpace(this.bytes[this.at])) this.at++;
    return this.bytes[this.at];
  }

  isObject = (): boolean => this.peek() === OPEN_OBJECT;
  isList = (): boolean => this.peek() === OPEN_LIST;
  isText = (): boolean => this.peek() === QUOTE;

  /**
   * Calls `member` with each key; it must read or skip the value.
   * @throws MapRefused
   */
  object(member: (key: string) => void): void {
    this.#each(OPEN_OBJECT, CLOSE_OBJECT, () => {
      if (!this.isText()) throw noJson();
      const key = this.word() ?? '';
      if (this.peek() !== COLON) throw noJson();
      this.at++;
      member(key);
    });
  }

  /**
   * Calls `element` at each element; it must read or skip it.
   * @throws MapRefused
   */
  list(element: () => void): void {
    this.#each(OPEN_LIST, CLOSE_LIST, element);
  }

  #each(open: number, close: number, read: () => void): void {
    if (this.peek() !== open) throw noJson();
    this.#count();
    this.at++;
    if (this.peek() === close) {
      this.at++;
      return;
    }
    for (;;) {
      read();
      const next = this.peek();
      this.at++;
      if (next === close) return;
      if (next !== COMMA) throw noJson();
    }
  }

  text(): TextRange {
    this.#count();
    const { bytes } = this;
    const start = this.at;
    for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
      let slashes = 0;
      while (bytes[end - 1 - slashes] === BACKSLASH) slashes++;
      if (slashes % 2 === 1) continue;
      this.at = end + 1;
      return { start, end: end + 1 };
    }
    throw noJson();
  }

  skip(): void {
    const { bytes, bounds } = this;
    let depth = 0;
    do {
      const byte = this.peek();
      if (byte === undefined) throw noJson();
      if (byte === QUOTE) this.text();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#count();
        this.at++;
        if (++depth > bounds.depth) throw new MapRefused('is nested too deeply');
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.at++;
        if (--depth < 0) throw noJson();
      } else if (depth > 0 && (byte === COMMA || byte === COLON)) this.at++;
      else this.#word(bytes);
    } while (depth > 0);
  }

  number(): number | null {
    const start = (this.peek(), this.at);
    this.skip();
    const value = Number(this.bytes.toString('latin1', start, Math.min(this.at, start + 20)));
    return Number.isFinite(value) ? value : null;
  }

  word(): string | null {
    const found = this.text();
    return found.end - found.start > LIMITS.name ? null : this.decode(found);
  }

  /** @throws MapRefused */
  decode({ start, end }: TextRange): string {
    try {
      return JSON.parse(this.bytes.toString('utf8', start, end)) as string;
    } catch {
      throw noJson();
    }
  }

  #word(bytes: Buffer): void {
    this.#count();
    const start = this.at;
    for (let byte = bytes[this.at]; byte !== undefined && WORD[byte] === 1; byte = bytes[++this.at]);
    if (this.at === start) throw noJson();
  }

  #count(): void {
    if (++this.#values > this.bounds.values) throw new MapRefused(`has more than ${this.bounds.values} values`);
  }
}

const WORD = new Uint8Array(256);
for (const letter of '0123456789+-.eEtrufalsn') WORD[letter.charCodeAt(0)] = 1;
