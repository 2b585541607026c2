/**
 * An event's bytes → JSON. Small ones in one go; a large one is walked first, with the loop given back in between, and
 * refused when it holds more values than an event can use: they, not its texts, are what parsing costs.
 *
 * Bytes that are no UTF-8 become U+FFFD, and what nests too deep is cut later (values.ts): an event is worth more than its
 * odd corner.
 */
import { isAscii } from 'node:buffer';

/** Parsed in at most some 3 ms, whatever it holds. */
const SMALL = 128 * 1024;
const STEP = 1024 * 1024;
/** As many as the error intake takes (adapters/hapi/body/json.ts). */
export const MOST_VALUES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Undefined: it is no JSON, or holds too many values. */
export async function readJson(bytes: Buffer): Promise<unknown> {
  if (bytes.length > SMALL && !(await fits(bytes))) return undefined;
  try {
    return JSON.parse(isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function fits(bytes: Buffer): Promise<boolean> {
  let values = 1;
  let inText = false;
  let at = 0;
  while (at < bytes.length) {
    const end = Math.min(bytes.length, at + STEP);
    for (; at < end; at++) {
      const byte = bytes[at];
      if (inText) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === 0x2c || byte === 0x7b || byte === 0x5b) values++;
    }
    if (values > MOST_VALUES) return false;
    await turn();
  }
  return true;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
