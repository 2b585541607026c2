/**
 * Reads OTLP protobuf and skips unknown fields. An empty message takes two bytes, so fields are
 * counted, and the event loop runs between records.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Json } from '../../ports/store.js';
import { DEEPEST, MOST_ATTRIBUTES, noAttributes, type Attributes } from './attributes.js';
import { MOST_RECORDS, MOST_VALUES, Unreadable, type LogRecord, type ReadLogs } from './log-record.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

type Take = (field: number, reader: LogReader) => boolean;

type TakeInSlices = (field: number, reader: LogReader) => boolean | Promise<boolean>;

const MOST_FIELDS = 200_000;
/**
 * Maximum fields per record or resource, which is read without a pause; and fields between pauses.
 */
const MOST_FIELDS_OF_ONE = 20_000;
const SLICE = 2_000;
const MOST_RECORD_BYTES = 524_288;

/** Limits the amount that is read from an untrusted sender. */
class LogReader {
  readonly records: LogRecord[] = [];
  skipped = 0;
  #values = 0;
  #fields = 0;
  #slice = 0;
  #type: WireType = WireType.Varint;

  constructor(readonly wire: BinaryReader) {}

  fields(end: number, take: Take): void {
    this.#begin(end);
    while (this.wire.pos < end) {
      const { field, type } = this.#next();
      if (!take(type === null ? 0 : field, this)) this.#skip(field);
    }
    this.#finish(end);
  }

  async slices(end: number, take: TakeInSlices): Promise<void> {
    this.#begin(end);
    while (this.wire.pos < end) {
      if (this.#slice >= SLICE) {
        this.#slice = 0;
        await yieldToEventLoop();
      }
      const { field, type } = this.#next();
      const taken = take(type === null ? 0 : field, this);
      if (!(typeof taken === 'boolean' ? taken : await taken)) this.#skip(field);
    }
    this.#finish(end);
  }

  #begin(end: number): void {
    if (end > this.wire.len) throw new Unreadable('The request breaks off.');
  }

  #finish(end: number): void {
    if (this.wire.pos !== end) throw new Unreadable('A message of the request is longer than it says.');
  }

  /** Returns the next field; its type is null when no known field matches. */
  #next(): { field: number; type: WireType | null } {
    if (++this.#fields > MOST_FIELDS) throw new Unreadable(`The request has more than ${MOST_FIELDS} fields.`);
    if (++this.#slice > MOST_FIELDS_OF_ONE)
      throw new Unreadable(`A record of the request has more than ${MOST_FIELDS_OF_ONE} fields.`);
    const [field, type] = this.wire.tag();
    // The library would read a group to its end. OTLP messages have none.
    if (type === WireType.StartGroup || type === WireType.EndGroup) throw new Unreadable('The request has groups.');
    this.#type = type;
    return { field, type: type === WireType.Bit32 ? null : type };
  }

  #skip(field: number): void {
    this.wire.skip(this.#type, field);
  }

  end(): number {
    const length = this.wire.uint32();
    return this.wire.pos + length;
  }

  message(take: Take): true {
    this.fields(this.end(), take);
    return true;
  }

  async messageInSlices(take: TakeInSlices): Promise<true> {
    await this.slices(this.end(), take);
    return true;
  }

  count(): void {
    if (++this.#values > MOST_VALUES) throw new Unreadable(`The request has more than ${MOST_VALUES} values.`);
  }
}

export async function recordsOfProtobuf(bytes: Uint8Array): Promise<ReadLogs> {
  const reader = new LogReader(new BinaryReader(bytes));
  try {
    await reader.slices(bytes.length, (field) => field === 1 && reader.messageInSlices(resourceLogs()));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable('The body is no request of OTLP in protobuf.', { cause: error });
  }
  const { records, skipped } = reader;
  return { records, skipped };
}

/** The resource may follow its records. */
function resourceLogs(): TakeInSlices {
  const resource = noAttributes();
  return (field, reader) => {
    if (field === 1) return reader.message((inner) => inner === 1 && attribute(resource, reader, 0));
    return field === 2 && scopeLogs(reader, resource);
  };
}

async function scopeLogs(reader: LogReader, resource: Attributes): Promise<true> {
  const first = reader.records.length;
  let scope: string | null = null;
  await reader.messageInSlices((field) => {
    if (field === 1) {
      return reader.message((inner) => {
        if (inner !== 1) return false;
        scope = reader.wire.string();
        return true;
      });
    }
    return field === 2 && logRecord(reader, resource);
  });
  for (const record of reader.records.slice(first)) record.scope = scope;
  return true;
}

function logRecord(reader: LogReader, resource: Attributes): true {
  if (reader.records.length === MOST_RECORDS)
    throw new Unreadable(`The request has more than ${MOST_RECORDS} records.`);
  const end = reader.end();
  if (end - reader.wire.pos > MOST_RECORD_BYTES) {
    reader.skipped++;
    reader.wire.pos = Math.min(end, reader.wire.len);
    return true;
  }
  const { wire } = reader;
  const record: LogRecord = {
    resource,
    scope: null,
    time: null,
    severity: 0,
    severityText: null,
    body: null,
    attributes: noAttributes(),
    traceId: null,
    spanId: null,
  };
  let observed: string | null = null;
  reader.fields(end, (field) => {
    if (field === 1) record.time = nanoseconds(wire);
    else if (field === 2) record.severity = wire.int32();
    else if (field === 3) record.severityText = wire.string();
    else if (field === 5) record.body = value(reader, 0);
    else if (field === 6) return attribute(record.attributes, reader, 0);
    else if (field === 9) record.traceId = idOf(wire.bytes(), 16);
    else if (field === 10) record.spanId = idOf(wire.bytes(), 8);
    else if (field === 11) observed = nanoseconds(wire);
    else return false;
    return true;
  });
  record.time ??= observed;
  reader.records.push(record);
  return true;
}

function nanoseconds(wire: BinaryReader): string | null {
  const given = wire.fixed64().toString();
  return given === '0' ? null : given;
}

function idOf(bytes: Uint8Array, length: number): string | null {
  return bytes.length === length && bytes.some((byte) => byte !== 0) ? Buffer.from(bytes).toString('hex') : null;
}

function attribute(into: Attributes, reader: LogReader, depth: number): true {
  let key = '';
  let given: Json = null;
  reader.message((field) => {
    if (field === 1) key = reader.wire.string();
    else if (field === 2) given = value(reader, depth);
    else return false;
    return true;
  });
  reader.count();
  if (Object.keys(into).length < MOST_ATTRIBUTES) into[key] = given;
  return true;
}

function value(reader: LogReader, depth: number): Json {
  if (depth > DEEPEST) throw new Unreadable(`A value nests deeper than ${DEEPEST} levels.`);
  const { wire } = reader;
  let given: Json = null;
  reader.count();
  reader.message((field) => {
    if (field === 1) given = wire.string();
    else if (field === 2) given = wire.bool();
    else if (field === 3) given = exact(wire.int64());
    else if (field === 4) given = wire.double();
    else if (field === 5) given = listed(reader, depth);
    else if (field === 6) given = mapped(reader, depth);
    else if (field === 7) given = Buffer.from(wire.bytes()).toString('base64');
    else return false;
    return true;
  });
  return typeof given === 'number' && !Number.isFinite(given) ? String(given) : given;
}

const exact = (given: bigint | string): Json =>
  Number.isSafeInteger(Number(given)) ? Number(given) : given.toString();

function listed(reader: LogReader, depth: number): Json {
  const values: Json[] = [];
  reader.message((field) => field === 1 && values.push(value(reader, depth + 1)) > 0);
  return values.slice(0, MOST_ATTRIBUTES);
}

function mapped(reader: LogReader, depth: number): Json {
  const values = noAttributes();
  reader.message((field) => field === 1 && attribute(values, reader, depth + 1));
  return { ...values };
}

/** `ExportLogsServiceResponse`, empty unless records were rejected. */
export function protobufAnswer(rejected: number, sentence: string | null): Uint8Array {
  const writer = new BinaryWriter();
  if (sentence === null) return writer.finish();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(sentence);
  return writer.join().finish();
}
