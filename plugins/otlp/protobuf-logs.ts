/**
 * OTLP's protobuf, read field by field: of its messages a few fields are of use, and unknown ones are skipped, so that
 * newer versions are read too. The wire format is the library's. Pure.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Json } from '../../ports/store.js';
import { DEEPEST, MOST_ATTRIBUTES, noAttributes, type Attributes } from './attributes.js';
import { MOST_RECORDS, MOST_VALUES, Unreadable, type LogRecord } from './log-record.js';

/** Takes the field from the reader; false: it is none of this message's. */
type Take = (field: number, reader: LogReader) => boolean;

/** Bounded by what it has read, whoever wrote it. */
class LogReader {
  readonly records: LogRecord[] = [];
  #values = 0;

  constructor(readonly wire: BinaryReader) {}

  /** The fields up to `end`. */
  fields(end: number, take: Take): void {
    const { wire } = this;
    if (end > wire.len) throw new Unreadable('The request breaks off.');
    while (wire.pos < end) {
      const [field, type] = wire.tag();
      if (
        !take(
          type === WireType.LengthDelimited || type === WireType.Varint || type === WireType.Bit64 ? field : 0,
          this,
        )
      ) {
        wire.skip(type, field);
      }
    }
    if (wire.pos !== end) throw new Unreadable('A message of the request is longer than it says.');
  }

  message(take: Take): true {
    const length = this.wire.uint32();
    this.fields(this.wire.pos + length, take);
    return true;
  }

  count(): void {
    if (++this.#values > MOST_VALUES) throw new Unreadable(`The request has more than ${MOST_VALUES} values.`);
  }
}

/** @throws Unreadable */
export function recordsOfProtobuf(bytes: Uint8Array): LogRecord[] {
  const reader = new LogReader(new BinaryReader(bytes));
  try {
    reader.fields(bytes.length, (field) => field === 1 && reader.message(resourceLogs()));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable('The body is no request of OTLP in protobuf.', { cause: error });
  }
  return reader.records;
}

/** The resource may stand behind the records that it is of. */
function resourceLogs(): Take {
  const resource = noAttributes();
  return (field, reader) => {
    if (field === 1) return reader.message((inner) => inner === 1 && attribute(resource, reader, 0));
    return field === 2 && scopeLogs(reader, resource);
  };
}

function scopeLogs(reader: LogReader, resource: Attributes): true {
  const first = reader.records.length;
  let scope: string | null = null;
  reader.message((field) => {
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
  reader.message((field) => {
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

/** `ExportLogsServiceResponse`; without what was refused it is empty. */
export function protobufAnswer(rejected: number, sentence: string | null): Uint8Array {
  const writer = new BinaryWriter();
  if (sentence === null) return writer.finish();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(sentence);
  return writer.join().finish();
}
