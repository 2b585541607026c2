import type { TextRange } from './json-scanner.js';

const BACKSLASH = 0x5c;
const NEWLINE = 0x6e;
const UNICODE = 0x75;

export class SourceText {
  #at: number;
  #line = 1;

  constructor(
    private readonly bytes: Buffer,
    private readonly text: TextRange,
  ) {
    this.#at = text.start + 1;
  }

  getLine(line: number, column: number, most: number): string | null {
    if (line < this.#line) {
      this.#at = this.text.start + 1;
      this.#line = 1;
    }
    const end = this.text.end - 1;
    while (this.#line < line) {
      const next = this.#findLineEnd(this.#at);
      if (next >= end) return null;
      this.#at = next + 2;
      this.#line++;
    }
    const from = this.#advance(this.#at, column);
    return this.#decode(from, this.#advance(from, most)).replace(/\r$/, '');
  }

  #findLineEnd(from: number): number {
    const end = this.text.end - 1;
    for (let at = this.bytes.indexOf(BACKSLASH, from); at >= 0 && at < end; at = this.bytes.indexOf(BACKSLASH, at + 2))
      if (this.bytes[at + 1] === NEWLINE) return at;
    return end;
  }

  #advance(from: number, units: number): number {
    const { bytes } = this;
    const end = this.text.end - 1;
    let at = from;
    for (let left = units; left > 0 && at < end; left--) {
      const byte = bytes[at] ?? 0;
      if (byte === BACKSLASH) {
        if (bytes[at + 1] === NEWLINE) break;
        at += bytes[at + 1] === UNICODE ? 6 : 2;
      } else if (byte < 0x80) at += 1;
      else if (byte < 0xe0) at += 2;
      else if (byte < 0xf0) at += 3;
      else {
        at += 4;
        left--;
      }
    }
    return Math.min(at, end);
  }

  #decode(from: number, to: number): string {
    try {
      return JSON.parse(`"${this.bytes.toString('utf8', from, to)}"`) as string;
    } catch {
      return '';
    }
  }
}
