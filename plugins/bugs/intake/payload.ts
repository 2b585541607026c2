/**
 * Payloads of occurrences that earlier versions stored: whole, or compressed by the plugin itself, in `packed`. Since then the
 * store packs them where that is worth it (collections.ts).
 *
 * The stack trace followed the JSON of the other fields after a line feed.
 */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { inflateRaw, type ZlibOptions } from 'node:zlib';
import type { OccurrenceDoc, PackedOccurrence, StoredOccurrence } from '../items/model.js';

const expand = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** The intake's limits keep a payload far below; this guards against a damaged file. */
const MOST = 16 * 1024 * 1024;

type Payload = Omit<OccurrenceDoc, 'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'>;

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
