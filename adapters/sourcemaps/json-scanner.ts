/**
 * Scans JSON in a buffer without building values, so that untrusted input controls neither memory
 * nor stack depth.
 */
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';

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

export interface ScanLimits {
  values: number;
  depth: number;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const createInvalidJsonError = (): SourceMapRejected => new SourceMapRejected('is not valid JSON');

export class JsonScanner {
  at: number;
  #values = 0;

  constructor(
    readonly bytes: Buffer,
    private readonly bounds: ScanLimits,
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

  /** @throws MapRefused */
  readObject(member: (key: string) => void): void {
    this.#readElements(OPEN_OBJECT, CLOSE_OBJECT, () => {
      if (!this.isText()) throw createInvalidJsonError();
      const key = this.readShortText() ?? '';
      if (this.peek() !== COLON) throw createInvalidJsonError();
      this.at++;
      member(key);
    });
  }

  /** @throws MapRefused */
  readList(element: () => void): void {
    this.#readElements(OPEN_LIST, CLOSE_LIST, element);
  }

  #readElements(open: number, close: number, read: () => void): void {
    if (this.peek() !== open) throw createInvalidJsonError();
    this.#countValue();
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
      if (next !== COMMA) throw createInvalidJsonError();
    }
  }

  skipText(): TextRange {
    this.#countValue();
    const { bytes } = this;
    const start = this.at;
    for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
      let slashes = 0;
      while (bytes[end - 1 - slashes] === BACKSLASH) slashes++;
      if (slashes % 2 === 1) continue;
      this.at = end + 1;
      return { start, end: end + 1 };
    }
    throw createInvalidJsonError();
  }

  skip(): void {
    const { bytes, bounds } = this;
    let depth = 0;
    do {
      const byte = this.peek();
      if (byte === undefined) throw createInvalidJsonError();
      if (byte === QUOTE) this.skipText();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#countValue();
        this.at++;
        if (++depth > bounds.depth) throw new SourceMapRejected('is nested too deeply');
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.at++;
        if (--depth < 0) throw createInvalidJsonError();
      } else if (depth > 0 && (byte === COMMA || byte === COLON)) this.at++;
      else this.#skipLiteral(bytes);
    } while (depth > 0);
  }

  readNumber(): number | null {
    const start = (this.peek(), this.at);
    this.skip();
    const value = Number(this.bytes.toString('latin1', start, Math.min(this.at, start + 20)));
    return Number.isFinite(value) ? value : null;
  }

  readShortText(): string | null {
    const found = this.skipText();
    return found.end - found.start > UPLOAD_LIMITS.name ? null : this.decode(found);
  }

  /** @throws MapRefused */
  decode({ start, end }: TextRange): string {
    try {
      return JSON.parse(this.bytes.toString('utf8', start, end)) as string;
    } catch {
      throw createInvalidJsonError();
    }
  }

  #skipLiteral(bytes: Buffer): void {
    this.#countValue();
    const start = this.at;
    for (let byte = bytes[this.at]; byte !== undefined && LITERAL_BYTES[byte] === 1; byte = bytes[++this.at]);
    if (this.at === start) throw createInvalidJsonError();
  }

  #countValue(): void {
    if (++this.#values > this.bounds.values) throw new SourceMapRejected(`has more than ${this.bounds.values} values`);
  }
}

const LITERAL_BYTES = new Uint8Array(256);
for (const letter of '0123456789+-.eEtrufalsn') LITERAL_BYTES[letter.charCodeAt(0)] = 1;
