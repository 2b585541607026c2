/**
 * Earlier versions compressed payloads into `packed`: JSON, a line feed and the stack trace; today
 * the store compresses them (collections.ts). The first payload omits the stack trace, which the
 * item's texts hold.
 */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { inflateRaw, type ZlibOptions } from 'node:zlib';
import type { TextsDoc } from './model.js';
import type { FirstOccurrence, OccurrenceDoc, PackedOccurrence, StoredOccurrence } from './occurrence-documents.js';

const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** In bytes, against damaged data; the intake limits are far lower. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

type Payload = Omit<OccurrenceDoc, 'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'>;

/**
 * @param textsOf loads the texts of an item
 * @throws zlib's error, or SyntaxError, when the stored payload is damaged
 */
export async function unpackOccurrence(
  stored: StoredOccurrence,
  textsOf: (itemId: string) => Promise<TextsDoc | null>,
): Promise<OccurrenceDoc> {
  if (isFirstOccurrence(stored)) {
    const { stack_of_item: _, ...own } = stored;
    return { ...own, stack_trace: (await textsOf(stored.item_id))?.stack_trace ?? null };
  }
  if (!isPackedOccurrence(stored)) return stored;
  const { packed, ...named } = stored;
  const text = (await inflate(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_PAYLOAD_BYTES })).toString();
  const end = text.indexOf('\n');
  const rest = JSON.parse(end < 0 ? text : text.slice(0, end)) as Omit<Payload, 'stack_trace'>;
  return { ...named, ...rest, stack_trace: end < 0 ? null : text.slice(end + 1) };
}

/** Omits the stack trace that its item's texts hold. */
export const packFirstOccurrence = (occurrence: OccurrenceDoc): StoredOccurrence =>
  occurrence.stack_trace === null ? occurrence : { ...occurrence, stack_trace: null, stack_of_item: true };

const isFirstOccurrence = (stored: StoredOccurrence): stored is FirstOccurrence =>
  'stack_of_item' in stored && stored.stack_of_item === true;

const isPackedOccurrence = (stored: StoredOccurrence): stored is PackedOccurrence =>
  'packed' in stored && typeof stored.packed === 'string';
