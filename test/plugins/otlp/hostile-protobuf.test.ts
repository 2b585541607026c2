/** Small bodies that inflate to megabytes of protobuf with nothing in it (contract 00, limits). */
import { expect } from 'chai';
import { InvalidLogsError } from '../../../plugins/otlp/log-record.js';
import { parseProtobufLogs } from '../../../plugins/otlp/protobuf-logs.js';

const SIZE = 8 * 1024 * 1024;

/** Bytes of a number, seven bits each. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
const message = (field: number, content: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
const many = (...bytes: number[]): Buffer => Buffer.alloc(SIZE, Buffer.from(bytes));

const ATTACKS: readonly [name: string, body: () => Buffer, says: RegExp][] = [
  ['empty resources', () => many(0x0a, 0), /more than 200000 fields/],
  ['empty scopes', () => message(1, many(0x12, 0)), /more than 200000 fields/],
  ['empty records', () => message(1, message(2, many(0x12, 0))), /more than 5000 records/],
  ['empty attributes of a resource', () => message(1, message(1, many(0x0a, 0))), /more than 20000 fields/],
  ['unknown fields', () => many(0x78, 0), /more than 200000 fields/],
  ['groups', () => many(0x7b, 0x7c), /has groups/],
  ['groups within groups', () => many(0x7b), /has groups/],
];

describe('hostile protobuf', () => {
  for (const [name, body, says] of ATTACKS) {
    it(`rejects 8 MiB of ${name} before decoding`, async () => {
      const error = await parseProtobufLogs(body()).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(InvalidLogsError);
      expect((error as InvalidLogsError).message).to.match(says);
    });
  }

  it('yields to the event loop while reading', async () => {
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    await parseProtobufLogs(Buffer.alloc(300_000, Buffer.from([0x0a, 0])));
    clearImmediate(next);
    expect(turns).to.be.above(50);
  });

  it('skips a record that is too large, and reads the others', async () => {
    const large = message(2, Buffer.alloc(600_000, Buffer.from([0x32, 0])));
    const small = message(2, message(3, Buffer.from('ERROR')));
    const { records, skipped } = await parseProtobufLogs(message(1, message(2, Buffer.concat([small, large, small]))));
    expect([records.map(({ severityText }) => severityText), skipped]).to.deep.equal([['ERROR', 'ERROR'], 1]);
  });
});
