/**
 * Parses event bytes as JSON, yielding to the event loop. Invalid UTF-8 becomes U+FFFD, so one bad
 * value does not lose the event.
 */
import { isAscii } from 'node:buffer';
import { yieldToEventLoop } from '../process/event-loop.js';

/** Small enough to parse synchronously. */
const MAX_SYNC_PARSE_BYTES = 128 * 1024;
const SCAN_SLICE_BYTES = 1024 * 1024;
export const MAX_JSON_VALUES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns undefined for invalid JSON or too many values. */
export const parseEventJson = (bytes: Buffer): unknown =>
  bytes.length > MAX_SYNC_PARSE_BYTES ? parseLargeEvent(bytes) : parseBytes(bytes);

async function parseLargeEvent(bytes: Buffer): Promise<unknown> {
  return (await isWithinValueLimit(bytes)) ? parseBytes(bytes) : undefined;
}

function parseBytes(bytes: Buffer): unknown {
  try {
    return JSON.parse(isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function isWithinValueLimit(bytes: Buffer): Promise<boolean> {
  let values = 1;
  let inText = false;
  let at = 0;
  while (at < bytes.length) {
    const end = Math.min(bytes.length, at + SCAN_SLICE_BYTES);
    for (; at < end; at++) {
      const byte = bytes[at];
      if (inText) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === 0x2c || byte === 0x7b || byte === 0x5b) values++;
    }
    if (values > MAX_JSON_VALUES) return false;
    await yieldToEventLoop();
  }
  return true;
}
