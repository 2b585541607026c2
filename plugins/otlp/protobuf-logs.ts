/**
 * An empty message takes two bytes, so fields are counted, and the event loop runs between records.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Json } from '../../ports/store/index.js';
import { MAX_DEPTH, MAX_ATTRIBUTES, createAttributes, type Attributes } from './attributes.js';
import { MAX_RECORDS, MAX_VALUES, InvalidLogsError, type LogRecord, type ParsedLogs } from './log-record.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

type FieldReader = (field: number, reader: LogReader) => boolean;

type AsyncFieldReader = (field: number, reader: LogReader) => boolean | Promise<boolean>;

const MAX_FIELDS = 200_000;
/**
 * Maximum fields per record or resource, which is read without a pause; and fields between pauses.
 */
const MAX_FIELDS_PER_MESSAGE = 20_000;
const FIELDS_PER_SLICE = 2_000;
const MAX_RECORD_BYTES = 524_288;

/** Limits the amount that is read from an untrusted sender. */
class LogReader {
  readonly records: LogRecord[] = [];
  skipped = 0;
  #values = 0;
  #fields = 0;
  #slice = 0;
  #type: WireType = WireType.Varint;

  constructor(readonly wire: BinaryReader) {}

  readFields(end: number, take: FieldReader): void {
    this.#beginMessage(end);
    while (this.wire.pos < end) {
      const { field, type } = this.#readNextField();
      if (!take(type === null ? 0 : field, this)) this.#skip(field);
    }
    this.#finishMessage(end);
  }

  async readFieldsInSlices(end: number, take: AsyncFieldReader): Promise<void> {
    this.#beginMessage(end);
    while (this.wire.pos < end) {
      if (this.#slice >= FIELDS_PER_SLICE) {
        this.#slice = 0;
        await yieldToEventLoop();
      }
      const { field, type } = this.#readNextField();
      const consumed = take(type === null ? 0 : field, this);
      if (!(typeof consumed === 'boolean' ? consumed : await consumed)) this.#skip(field);
    }
    this.#finishMessage(end);
  }

  #beginMessage(end: number): void {
    if (end > this.wire.len) throw new InvalidLogsError('The request is truncated.');
  }

  #finishMessage(end: number): void {
    if (this.wire.pos !== end)
      throw new InvalidLogsError('A message of the request is longer than its declared length.');
  }

  #readNextField(): { field: number; type: WireType | null } {
    if (++this.#fields > MAX_FIELDS) throw new InvalidLogsError(`The request has more than ${MAX_FIELDS} fields.`);
    if (++this.#slice > MAX_FIELDS_PER_MESSAGE)
      throw new InvalidLogsError(`A record of the request has more than ${MAX_FIELDS_PER_MESSAGE} fields.`);
    const [field, type] = this.wire.tag();
    // The library would read a group to its end. OTLP messages have none.
    if (type === WireType.StartGroup || type === WireType.EndGroup)
      throw new InvalidLogsError('The request has groups, which are not supported.');
    this.#type = type;
    return { field, type: type === WireType.Bit32 ? null : type };
  }

  #skip(field: number): void {
    this.wire.skip(this.#type, field);
  }

  readEnd(): number {
    const length = this.wire.uint32();
    return this.wire.pos + length;
  }

  readMessage(take: FieldReader): true {
    this.readFields(this.readEnd(), take);
    return true;
  }

  async readMessageInSlices(take: AsyncFieldReader): Promise<true> {
    await this.readFieldsInSlices(this.readEnd(), take);
    return true;
  }

  countValue(): void {
    if (++this.#values > MAX_VALUES) throw new InvalidLogsError(`The request has more than ${MAX_VALUES} values.`);
  }
}

export async function parseProtobufLogs(bytes: Uint8Array): Promise<ParsedLogs> {
  const reader = new LogReader(new BinaryReader(bytes));
  try {
    await reader.readFieldsInSlices(
      bytes.length,
      (field) => field === 1 && reader.readMessageInSlices(readResourceLogs()),
    );
  } catch (error) {
    if (error instanceof InvalidLogsError) throw error;
    throw new InvalidLogsError('The body is not an OTLP request in protobuf.', { cause: error });
  }
  const { records, skipped } = reader;
  return { records, skipped };
}

/** The resource may follow its records. */
function readResourceLogs(): AsyncFieldReader {
  const resource = createAttributes();
  return (field, reader) => {
    if (field === 1) return reader.readMessage((inner) => inner === 1 && readAttribute(resource, reader, 0));
    return field === 2 && readScopeLogs(reader, resource);
  };
}

async function readScopeLogs(reader: LogReader, resource: Attributes): Promise<true> {
  const first = reader.records.length;
  let scope: string | null = null;
  await reader.readMessageInSlices((field) => {
    if (field === 1) {
      return reader.readMessage((inner) => {
        if (inner !== 1) return false;
        scope = reader.wire.string();
        return true;
      });
    }
    return field === 2 && readLogRecord(reader, resource);
  });
  for (const record of reader.records.slice(first)) record.scope = scope;
  return true;
}

function readLogRecord(reader: LogReader, resource: Attributes): true {
  if (reader.records.length === MAX_RECORDS)
    throw new InvalidLogsError(`The request has more than ${MAX_RECORDS} records.`);
  const end = reader.readEnd();
  if (end - reader.wire.pos > MAX_RECORD_BYTES) {
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
    attributes: createAttributes(),
    traceId: null,
    spanId: null,
  };
  let observed: string | null = null;
  reader.readFields(end, (field) => {
    if (field === 1) record.time = readNanoseconds(wire);
    else if (field === 2) record.severity = wire.int32();
    else if (field === 3) record.severityText = wire.string();
    else if (field === 5) record.body = readValue(reader, 0);
    else if (field === 6) return readAttribute(record.attributes, reader, 0);
    else if (field === 9) record.traceId = toHexId(wire.bytes(), 16);
    else if (field === 10) record.spanId = toHexId(wire.bytes(), 8);
    else if (field === 11) observed = readNanoseconds(wire);
    else return false;
    return true;
  });
  record.time ??= observed;
  reader.records.push(record);
  return true;
}

function readNanoseconds(wire: BinaryReader): string | null {
  const given = wire.fixed64().toString();
  return given === '0' ? null : given;
}

function toHexId(bytes: Uint8Array, length: number): string | null {
  return bytes.length === length && bytes.some((byte) => byte !== 0) ? Buffer.from(bytes).toString('hex') : null;
}

function readAttribute(into: Attributes, reader: LogReader, depth: number): true {
  let key = '';
  let given: Json = null;
  reader.readMessage((field) => {
    if (field === 1) key = reader.wire.string();
    else if (field === 2) given = readValue(reader, depth);
    else return false;
    return true;
  });
  reader.countValue();
  if (Object.keys(into).length < MAX_ATTRIBUTES) into[key] = given;
  return true;
}

function readValue(reader: LogReader, depth: number): Json {
  if (depth > MAX_DEPTH) throw new InvalidLogsError(`A value nests deeper than ${MAX_DEPTH} levels.`);
  const { wire } = reader;
  let given: Json = null;
  reader.countValue();
  reader.readMessage((field) => {
    if (field === 1) given = wire.string();
    else if (field === 2) given = wire.bool();
    else if (field === 3) given = toExactNumber(wire.int64());
    else if (field === 4) given = wire.double();
    else if (field === 5) given = readArray(reader, depth);
    else if (field === 6) given = readMap(reader, depth);
    else if (field === 7) given = Buffer.from(wire.bytes()).toString('base64');
    else return false;
    return true;
  });
  return typeof given === 'number' && !Number.isFinite(given) ? String(given) : given;
}

const toExactNumber = (given: bigint | string): Json =>
  Number.isSafeInteger(Number(given)) ? Number(given) : given.toString();

function readArray(reader: LogReader, depth: number): Json {
  const values: Json[] = [];
  reader.readMessage((field) => field === 1 && values.push(readValue(reader, depth + 1)) > 0);
  return values.slice(0, MAX_ATTRIBUTES);
}

function readMap(reader: LogReader, depth: number): Json {
  const values = createAttributes();
  reader.readMessage((field) => field === 1 && readAttribute(values, reader, depth + 1));
  return { ...values };
}

/** `ExportLogsServiceResponse`, empty unless records were rejected. */
export function encodeProtobufResponse(rejected: number, sentence: string | null): Uint8Array {
  const writer = new BinaryWriter();
  if (sentence === null) return writer.finish();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(sentence);
  return writer.join().finish();
}
