/**
 * Checks UTF-8, nesting and the number of values first: deep values could overflow the stack, and
 * each value costs validation time.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { Failure } from '../wire/failure.js';
import { parseInPieces, PIECE_BYTES } from './json-large.js';

const MAX_DEPTH = 64;
/** Each is validated on the event loop. */
export const MAX_JSON_VALUES = 10_000;
export const MAX_INTAKE_JSON_VALUES = 50_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const ZERO = 0x30;

const PROTO_KEY = '__proto__';
const INVALID_UTF8 = new Failure('invalid_json', 'The body is not valid UTF-8.');
const INVALID_JSON = new Failure('invalid_json', 'The body is not valid JSON.');
const NESTED_TOO_DEEPLY = new Failure('invalid_json', `The body nests deeper than ${MAX_DEPTH} levels.`);

/**
 * Drops keys named `__proto__` (`getDroppedKeys`), like every unknown field (contract 00,
 * envelope).
 */
export function parseJson(bytes: Buffer, most = MAX_JSON_VALUES): unknown {
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) return INVALID_UTF8;
  if (body.length > PIECE_BYTES) return parseLarge(body, most);
  const encoding = ascii ? 'latin1' : 'utf8';
  if (isWithinLimits(body, most)) return parseText(body, encoding, mayHideProto(body));
  const scan = new JsonScanner(body, most);
  scan.scan(body.length);
  return scan.fault ?? parseText(body, encoding, mayHideProto(body));
}

/** Accepts nearly every body; the full scan decides about the others. */
function isWithinLimits(bytes: Buffer, most: number): boolean {
  // Each further value takes at least two bytes: its comma and itself.
  if (bytes.length / 2 + MAX_DEPTH >= most) return false;
  let brackets = 0;
  for (const bracket of [0x7b, 0x5b]) {
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1)) {
      if (++brackets > MAX_DEPTH) return false;
    }
  }
  return true;
}

/** Plain or with `\\u00…` escapes. */
const mayHideProto = (bytes: Buffer): boolean => bytes.includes(PROTO_KEY) || bytes.includes('\\u00');

function parseText(bytes: Buffer, encoding: 'latin1' | 'utf8', suspicious: boolean): unknown {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString(encoding));
  } catch {
    return INVALID_JSON;
  }
  return suspicious ? removeHarmfulKeys(value) : value;
}

class JsonScanner {
  at = 0;
  fault: Failure | null = null;
  escaped = false;
  #depth = 0;
  #values = 1;
  #inText = false;

  constructor(
    private readonly bytes: Buffer,
    private readonly most: number,
  ) {}

  scan(end: number): void {
    const { bytes } = this;
    let at = this.at;
    let inText = this.#inText;
    let depth = this.#depth;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (inText) {
        if (byte === BACKSLASH) {
          if (bytes[++at] === SMALL_U && bytes[at + 1] === ZERO && bytes[at + 2] === ZERO) this.escaped = true;
        } else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === 0x2c) this.#values++;
      else if (byte === 0x7b || byte === 0x5b) {
        this.#values++;
        if (++depth > MAX_DEPTH) return void (this.fault = NESTED_TOO_DEEPLY);
      } else if (byte === 0x7d || byte === 0x5d) depth--;
    }
    this.at = at;
    this.#inText = inText;
    this.#depth = depth;
    if (this.#values > this.most)
      this.fault = new Failure('invalid_json', `The body contains more than ${this.most} values.`);
  }
}

async function parseLarge(body: Buffer, most: number): Promise<unknown> {
  const scan = new JsonScanner(body, most);
  while (scan.at < body.length && !scan.fault) {
    scan.scan(Math.min(body.length, scan.at + 1024 * 1024));
    await turn();
  }
  if (scan.fault) return scan.fault;
  try {
    const value = await parseInPieces(body);
    return scan.escaped || body.includes(PROTO_KEY) ? removeHarmfulKeys(value) : value;
  } catch (error) {
    if (error instanceof SyntaxError) return INVALID_JSON;
    throw error;
  }
}

const droppedKeys = new WeakMap<object, string[]>();
const NO_KEYS: readonly string[] = [];

export const getDroppedKeys = (value: object): readonly string[] => droppedKeys.get(value) ?? NO_KEYS;

/** `__proto__`, and `constructor` with a `prototype`, are dangerous where values are merged. */
function removeHarmfulKeys(root: unknown): unknown {
  const open: unknown[] = [root];
  let found = false;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      const record = value as Record<string, unknown>;
      const names = HARMFUL_KEYS.filter((name) => isHarmfulKey(record, name));
      for (const name of names) delete record[name];
      if (names.length > 0) droppedKeys.set(record, names);
      found ||= names.length > 0;
    }
    for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) open.push(inner);
  }
  if (found && typeof root === 'object' && root !== null && !droppedKeys.has(root)) droppedKeys.set(root, []);
  return root;
}

const HARMFUL_KEYS = [PROTO_KEY, 'constructor'];

function isHarmfulKey(record: Record<string, unknown>, name: string): boolean {
  if (!Object.hasOwn(record, name)) return false;
  const value = record[name];
  return name === PROTO_KEY || (typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'));
}
