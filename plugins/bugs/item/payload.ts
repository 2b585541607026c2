/**
 * Payloads of occurrences as they are stored. Earlier versions stored them whole, or compressed by the plugin itself,
 * in `packed`, with the stack trace behind the JSON of the other fields and a line feed. Today the store packs them
 * where packing is worth it (collections.ts).
 *
 * The first payload of an item lacks its stack trace when the item's texts hold it: the trace is the larger part of
 * both.
 */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { inflateRaw, type ZlibOptions } from 'node:zlib';
import type { TextsDoc } from './model.js';
import type { FirstOccurrence, OccurrenceDoc, PackedOccurrence, StoredOccurrence } from './occurrence-documents.js';

const expand = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** Largest unpacked payload. The intake's limits are far below; this one guards against a damaged file. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

type Payload = Omit<OccurrenceDoc, 'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'>;

/**
 * The whole occurrence.
 * @param textsOf the texts of an item
 * @throws zlib's error, or SyntaxError, when the stored payload is damaged
 */
export async function unpackOccurrence(
  stored: StoredOccurrence,
  textsOf: (itemId: string) => Promise<TextsDoc | null>,
): Promise<OccurrenceDoc> {
  if (isFirst(stored)) {
    const { stack_of_item: _, ...own } = stored;
    return { ...own, stack_trace: (await textsOf(stored.item_id))?.stack_trace ?? null };
  }
  if (!isPacked(stored)) return stored;
  const { packed, ...named } = stored;
  const text = (await expand(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_PAYLOAD_BYTES })).toString();
  const end = text.indexOf('\n');
  const rest = JSON.parse(end < 0 ? text : text.slice(0, end)) as Omit<Payload, 'stack_trace'>;
  return { ...named, ...rest, stack_trace: end < 0 ? null : text.slice(end + 1) };
}

/** @returns the part to store beside the texts of its item, which come from the same report */
export const packFirstOccurrence = (occurrence: OccurrenceDoc): StoredOccurrence =>
  occurrence.stack_trace === null ? occurrence : { ...occurrence, stack_trace: null, stack_of_item: true };

const isFirst = (stored: StoredOccurrence): stored is FirstOccurrence =>
  'stack_of_item' in stored && stored.stack_of_item === true;

const isPacked = (stored: StoredOccurrence): stored is PackedOccurrence =>
  'packed' in stored && typeof stored.packed === 'string';
