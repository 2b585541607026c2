/**
 * Documents with compressed fields (`CollectionSpec.compressed`) store those fields deflated, in
 * base64, under a key that no path can address. The writer deflates and readers of a body restore
 * it; all other code reads only uncompressed fields. The longest text follows the JSON of the other
 * compressed fields after a line feed, which compact JSON never contains.
 */
import { Buffer } from 'node:buffer';
import { deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { stringifyJson, splitBytes } from '../../../ports/document.js';
import type { Doc, Json } from '../../../ports/store.js';
import { DamagedText, idIn } from '../driver/damage.js';

/**
 * A document for the writer: id, JSON of the plain fields, text to compress, value of the bytes
 * field.
 */
export type DocText = readonly [
  id: string,
  body: string,
  compressed?: string | undefined,
  bytes?: Uint8Array | undefined,
];

/** Shorter texts would not shrink. */
const WORTH_IT = 512;
const LONG = 256;
const SMALL = 8 * 1024;

/** Favors speed: repetitions in stack traces are found at any level. */
const QUICK: ZlibOptions = { level: 1 };
const QUICK_SMALL: ZlibOptions = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 2048 };

const HEAD = '{"~":"';

export interface StoredApart {
  compressed: readonly string[] | undefined;
  bytes: string | undefined;
}

/** @throws TypeError without a string id, or when the bytes field does not hold bytes */
export function textOf(given: Doc, { compressed, bytes: field }: StoredApart): DocText {
  const { doc, bytes } = splitBytes(given, field);
  if (bytes === undefined) return toText(doc, compressed);
  const [id, body, packed] = toText(doc, compressed);
  return [id, body, packed, bytes];
}

function toText(doc: Doc, compressed: readonly string[] | undefined): DocText {
  if (typeof doc.id !== 'string') throw new TypeError('a document has a text id');
  const id = doc.id.toWellFormed();
  // A member named `__proto__` cannot be copied by name.
  if (compressed === undefined || compressed.length === 0 || Object.hasOwn(doc, '__proto__'))
    return [id, stringifyJson(doc)];
  const fields = doc as unknown as { readonly [field: string]: Json | undefined };
  const longest = longestOf(fields, compressed);
  const plain: { [field: string]: Json | undefined } = {};
  const rest: { [field: string]: Json | undefined } = {};
  for (const field of Object.keys(fields)) {
    const value = fields[field];
    if (!compressed.includes(field)) plain[field] = value;
    else if (field !== longest) rest[field] = value;
  }
  const tail = longest === null ? '' : `\n${longest}\n${fields[longest] as string}`;
  const packable = `${stringifyJson(rest)}${tail}`;
  return packable.length < WORTH_IT ? [id, stringifyJson(doc)] : [id, stringifyJson(plain), packable];
}

function longestOf(
  fields: { readonly [field: string]: Json | undefined },
  compressed: readonly string[],
): string | null {
  let longest: string | null = null;
  let length = LONG;
  for (const field of compressed) {
    const value = fields[field];
    if (typeof value !== 'string' || value.length <= length) continue;
    longest = field;
    length = value.length;
  }
  return longest;
}

export function storedBody([, body, compressed]: DocText): string {
  if (compressed === undefined) return body;
  const bytes = Buffer.from(compressed);
  const deflated = deflateRawSync(bytes, bytes.length <= SMALL ? QUICK_SMALL : QUICK);
  return `${HEAD}${deflated.toString('base64')}",${body.slice(1)}`;
}

/** @throws DamagedText */
export function parsedBody(body: string): Doc {
  try {
    return JSON.parse(body) as Doc;
  } catch (error) {
    throw new DamagedText('it is no JSON', idIn(body), { cause: error });
  }
}

function inflated(stored: string, end: number): string {
  try {
    return inflateRawSync(Buffer.from(stored.slice(HEAD.length, end), 'base64')).toString();
  } catch (error) {
    throw new DamagedText('its compressed fields are damaged', idIn(stored), { cause: error });
  }
}

/**
 * Returns the whole document as JSON.
 * @throws DamagedText
 */
export function wholeBody(stored: string): string {
  if (!stored.startsWith(HEAD)) return stored;
  const end = stored.indexOf('"', HEAD.length);
  const text = inflated(stored, end);
  const plain = stored.slice(end + 2);
  const line = text.indexOf('\n');
  const rest = line < 0 ? text : text.slice(0, line);
  const more = rest === '{}' ? '' : `${rest.slice(1, -1)},`;
  if (line < 0) return `{${more}${plain}`;
  const long = text.indexOf('\n', line + 1);
  return `{${JSON.stringify(text.slice(line + 1, long))}:${JSON.stringify(text.slice(long + 1))},${more}${plain}`;
}
