/**
 * The payload of an occurrence as it is stored: compressed, because few payloads are ever read and a stack trace shrinks to
 * a tenth. The id and the fields that lists sort by stay uncompressed. Older documents are not compressed and stay readable.
 *
 * The stack trace follows the JSON of the other fields after a line feed, which compact JSON never contains. Inside the
 * JSON every line feed of the trace would be escaped and unescaped, at ten times the cost.
 *
 * Large ones are compressed on zlib's threads. For small ones going there and back costs more than the work itself,
 * which takes a tenth of a millisecond. Rejected: compressing in the store, which would have to know its documents.
 */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, type ZlibOptions } from 'node:zlib';
import type { Json } from '../../../ports/store.js';
import type { OccurrenceDoc, PackedOccurrence, StoredOccurrence } from '../items/model.js';

const compress = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);
const expand = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** Bytes. Shorter ones would not shrink. */
const WORTH_IT = 512;
const SMALL = 8 * 1024;
/** The intake's limits keep a payload far below; this guards against a damaged file. */
const MOST = 16 * 1024 * 1024;

/** Quick rather than small: the repetitions of a stack trace are found at any level. Small ones need no large tables and no 16 KB of room. */
const QUICK: ZlibOptions = { level: 1 };
const QUICK_SMALL: ZlibOptions = { level: 1, windowBits: 12, memLevel: 5, chunkSize: 2048 };

type Payload = Omit<OccurrenceDoc, 'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'>;

/** The document to store. */
export async function pack(doc: OccurrenceDoc): Promise<StoredOccurrence> {
  const { id, item_id, occurrence_id, occurred_at, received_at, ...payload } = doc;
  const { stack_trace, ...rest } = payload;
  const text = stack_trace === null ? JSON.stringify(rest) : `${JSON.stringify(rest)}\n${stack_trace}`;
  const bytes = Buffer.from(text);
  if (bytes.length < WORTH_IT) return doc;
  const packed = bytes.length <= SMALL ? deflateRawSync(bytes, QUICK_SMALL) : await compress(bytes, QUICK);
  return { id, item_id, occurrence_id, occurred_at, received_at, packed: packed.toString('base64') };
}

/** The whole occurrence. @throws zlib's error, or SyntaxError, when the stored payload is damaged */
export async function unpack(stored: StoredOccurrence): Promise<OccurrenceDoc> {
  if (!isPacked(stored)) return stored;
  const { packed, ...named } = stored;
  const text = (await expand(Buffer.from(packed, 'base64'), { maxOutputLength: MOST })).toString();
  const end = text.indexOf('\n');
  const rest = JSON.parse(end < 0 ? text : text.slice(0, end)) as Omit<Payload, 'stack_trace'>;
  return { ...named, ...rest, stack_trace: end < 0 ? null : text.slice(end + 1) };
}

const isPacked = (stored: StoredOccurrence): stored is PackedOccurrence => typeof stored.packed === 'string';

/** Fields that one of the two forms has and the other has not: what takes another's place must not keep them. */
const EITHER = [
  'packed',
  'error_message',
  'exception_class',
  'error_level',
  'stack_trace',
  'environment',
  'app_version',
  'commit_sha',
  'file_path',
  'line_no',
  'host',
  'client_ref',
  'tags',
  'context',
  'breadcrumbs',
] as const satisfies readonly (keyof Payload | 'packed')[];

/** What puts this payload in the place of another one. */
export function replacing(stored: StoredOccurrence): { [path: string]: Json | undefined } {
  const fields: { [path: string]: Json | undefined } = { ...stored };
  delete fields['id'];
  return { ...Object.fromEntries(EITHER.map((field) => [field, undefined])), ...fields };
}
