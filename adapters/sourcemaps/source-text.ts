/**
 * Lines of a source within the JSON of a map: found in its bytes, so that of a source of megabytes a few lines are
 * built. Pure.
 */
import type { TextRange } from './json-scanner.js';

const BACKSLASH = 0x5c;
const NEWLINE = 0x6e;
const UNICODE = 0x75;

export class SourceText {
  /** Where the next line begins, and its number from 1. */
  #at: number;
  #line = 1;

  constructor(
    private readonly bytes: Buffer,
    private readonly text: TextRange,
  ) {
    this.#at = text.start + 1;
  }

  /** The line, from 1: up to `most` characters from `column`; null: there are not so many lines. */
  line(line: number, column: number, most: number): string | null {
    if (line < this.#line) {
      this.#at = this.text.start + 1;
      this.#line = 1;
    }
    const end = this.text.end - 1;
    while (this.#line < line) {
      const next = this.#lineEnd(this.#at);
      if (next >= end) return null;
      this.#at = next + 2;
      this.#line++;
    }
    const from = this.#after(this.#at, column);
    return this.#decoded(from, this.#after(from, most)).replace(/\r$/, '');
  }

  /** Where the line ends that holds the offset: at `\n`, or at the end of the text. */
  #lineEnd(from: number): number {
    const end = this.text.end - 1;
    for (let at = this.bytes.indexOf(BACKSLASH, from); at >= 0 && at < end; at = this.bytes.indexOf(BACKSLASH, at + 2))
      if (this.bytes[at + 1] === NEWLINE) return at;
    return end;
  }

  /** The offset `units` UTF-16 units further, in the same line. */
  #after(from: number, units: number): number {
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

  #decoded(from: number, to: number): string {
    try {
      return JSON.parse(`"${this.bytes.toString('utf8', from, to)}"`) as string;
    } catch {
      return '';
    }
  }
}
