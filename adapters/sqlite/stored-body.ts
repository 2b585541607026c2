/**
 * Documents with compressed fields (`CollectionSpec.compressed`) store those fields deflated, in
 * base64, under a key that no path can address. The writer deflates and readers of a body restore
 * it; all other code reads only uncompressed fields.
 */
import { Buffer } from 'node:buffer';
import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { stringifyJson, splitBytes } from '../../ports/document.js';
import type { Doc, Json } from '../../ports/store/index.js';
import { DamagedTextError, extractId } from './driver/damage.js';

/**
 * A document for the writer: id, JSON of the plain fields, text to compress, value of the bytes
 * field.
 */
export type EncodedDoc = readonly [
  id: string,
  body: string,
  compressed?: string | undefined,
  bytes?: Uint8Array | undefined,
];

const MIN_COMPRESSED_LENGTH = 512;
const MIN_SEPARATE_TEXT_LENGTH = 256;
const MAX_SMALL_LENGTH = 8 * 1024;

/** Favors speed: repetitions in stack traces are found at any level. */
const DEFLATE_OPTIONS: ZlibOptions = { level: 1 };
const DEFLATE_SMALL_OPTIONS: ZlibOptions = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 2048 };

const COMPRESSED_PREFIX = '{"~":"';

export interface SeparateFields {
  compressed: readonly string[] | undefined;
  bytes: string | undefined;
}

/** @throws TypeError without a string id, or without bytes in the bytes field */
export function encodeDoc(given: Doc, { compressed, bytes: field }: SeparateFields): EncodedDoc {
  const { doc, bytes } = splitBytes(given, field);
  if (bytes === undefined) return encodePlainDoc(doc, compressed);
  const [id, body, packed] = encodePlainDoc(doc, compressed);
  return [id, body, packed, bytes];
}

function encodePlainDoc(doc: Doc, compressed: readonly string[] | undefined): EncodedDoc {
  if (typeof doc.id !== 'string') throw new TypeError('a document has a text id');
  const id = doc.id.toWellFormed();
  // A member named `__proto__` cannot be copied by name.
  if (compressed === undefined || compressed.length === 0 || Object.hasOwn(doc, '__proto__'))
    return [id, stringifyJson(doc)];
  const fields = doc as unknown as { readonly [field: string]: Json | undefined };
  const longest = findLongestField(fields, compressed);
  const plain: { [field: string]: Json | undefined } = {};
  const rest: { [field: string]: Json | undefined } = {};
  for (const field of Object.keys(fields)) {
    const value = fields[field];
    if (!compressed.includes(field)) plain[field] = value;
    else if (field !== longest) rest[field] = value;
  }
  const tail = longest === null ? '' : `\n${longest}\n${fields[longest] as string}`;
  const packable = `${stringifyJson(rest)}${tail}`;
  return packable.length < MIN_COMPRESSED_LENGTH ? [id, stringifyJson(doc)] : [id, stringifyJson(plain), packable];
}

function findLongestField(
  fields: { readonly [field: string]: Json | undefined },
  compressed: readonly string[],
): string | null {
  let longest: string | null = null;
  let length = MIN_SEPARATE_TEXT_LENGTH;
  for (const field of compressed) {
    const value = fields[field];
    if (typeof value !== 'string' || value.length <= length) continue;
    longest = field;
    length = value.length;
  }
  return longest;
}

export function compressBody([, body, compressed]: EncodedDoc): string {
  if (compressed === undefined) return body;
  const bytes = Buffer.from(compressed);
  const deflated = deflateRawSync(bytes, bytes.length <= MAX_SMALL_LENGTH ? DEFLATE_SMALL_OPTIONS : DEFLATE_OPTIONS);
  return `${COMPRESSED_PREFIX}${deflated.toString('base64')}",${body.slice(1)}`;
}

/** @throws DamagedText */
export function parseBody(body: string): Doc {
  try {
    return JSON.parse(body) as Doc;
  } catch (error) {
    throw new DamagedTextError('it is not valid JSON', extractId(body), { cause: error });
  }
}

function inflateBody(stored: string, end: number): string {
  try {
    return inflateRawSync(Buffer.from(stored.slice(COMPRESSED_PREFIX.length, end), 'base64')).toString();
  } catch (error) {
    throw new DamagedTextError('its compressed fields are damaged', extractId(stored), { cause: error });
  }
}

/** @throws DamagedText */
export function restoreBody(stored: string): string {
  if (!stored.startsWith(COMPRESSED_PREFIX)) return stored;
  const end = stored.indexOf('"', COMPRESSED_PREFIX.length);
  const text = inflateBody(stored, end);
  const plain = stored.slice(end + 2);
  const line = text.indexOf('\n');
  const rest = line < 0 ? text : text.slice(0, line);
  const more = rest === '{}' ? '' : `${rest.slice(1, -1)},`;
  if (line < 0) return `{${more}${plain}`;
  const long = text.indexOf('\n', line + 1);
  return `{${JSON.stringify(text.slice(line + 1, long))}:${JSON.stringify(text.slice(long + 1))},${more}${plain}`;
}
