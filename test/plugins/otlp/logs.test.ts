/**
 * `/v1/logs` behind the real HTTP adapter, with the bug tracker behind it (contract 21, Beyond the
 * specification).
 */
import { gzipSync } from 'node:zlib';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect } from 'chai';
import fc from 'fast-check';
import { ServiceError } from '../../../kernel/errors.js';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import otlp from '../../../plugins/otlp/plugin.js';
import { parseProtobufLogs } from '../../../plugins/otlp/protobuf-logs.js';
import { InvalidLogsError } from '../../../plugins/otlp/log-record.js';
import { NO_LIMITS, TestServer, type Asked, type Loose } from '../../adapters/hapi/support.js';
import { bootTestKernel, type TestKernel } from '../../harness.js';
import { fakeAccess } from '../../support/fake-access.js';
import { createFakeProjects } from '../../support/fake-projects.js';

const PATH = '/v1/logs';
const TOKEN = 'master:bugtracker:report';
const TRACE = '5b8efff798038103d269b633813fc60c';
const SPAN = 'eee19b7ec3c1b174';
/** Thrown for the project `old`. */
let fault: Error;
const projects = createFakeProjects({
  get: async (slug) => (slug === 'shop' || slug === 'old' ? { slug, number: 7 } : null),
  requireAccepting: async (slug) => {
    if (slug === 'old') throw fault;
    return { slug };
  },
});

type Value = string | number | boolean;

const valueOf = (value: Value): object =>
  typeof value === 'string'
    ? { stringValue: value }
    : typeof value === 'boolean'
      ? { boolValue: value }
      : Number.isInteger(value)
        ? { intValue: String(value) }
        : { doubleValue: value };
const pairs = (attributes: Record<string, Value>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

interface Given {
  attributes: Record<string, Value>;
  body?: string;
  severityNumber?: number;
  time?: string;
  traced?: boolean;
}

const SERVICE = {
  'service.name': 'shop',
  'service.version': '1.4.2',
  'deployment.environment.name': 'production',
  'host.name': 'web-1',
};
const CRASH: Given = {
  attributes: {
    'exception.type': 'CartError',
    'exception.message': 'no price',
    'exception.stacktrace':
      'Traceback (most recent call last):\n  File "shop/cart.py", line 41, in total\nCartError: no price',
    'code.file.path': 'shop/cart.py',
    'code.line.number': 41,
    'code.function.name': 'total',
    cart: 4711,
  },
  body: 'checkout failed',
  severityNumber: 17,
  time: '1763971200123000000',
  traced: true,
};

const json = (records: readonly Given[], resource: Record<string, Value> = SERVICE): string =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: pairs(resource) },
        scopeLogs: [
          {
            scope: { name: 'shop.checkout' },
            logRecords: records.map(({ attributes, body, severityNumber, time, traced }) => ({
              timeUnixNano: time ?? '0',
              ...(severityNumber !== undefined && { severityNumber }),
              ...(body !== undefined && { body: { stringValue: body } }),
              attributes: pairs(attributes),
              ...(traced && { traceId: TRACE, spanId: SPAN }),
            })),
          },
        ],
      },
    ],
  });

/** A message as a field of the one around it. */
const within = (writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void => {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
};

function protobufPairs(writer: BinaryWriter, field: number, attributes: Record<string, Value>): void {
  for (const [key, value] of Object.entries(attributes)) {
    within(writer, field, (pair) => {
      pair.tag(1, WireType.LengthDelimited).string(key);
      within(pair, 2, (any) => {
        if (typeof value === 'string') any.tag(1, WireType.LengthDelimited).string(value);
        else if (typeof value === 'boolean') any.tag(2, WireType.Varint).bool(value);
        else if (Number.isInteger(value)) any.tag(3, WireType.Varint).int64(value);
        else any.tag(4, WireType.Bit64).double(value);
      });
    });
  }
}

function protobuf(records: readonly Given[], resource: Record<string, Value> = SERVICE): Buffer {
  const writer = new BinaryWriter();
  within(writer, 1, (logs) => {
    within(logs, 2, (scoped) => {
      for (const { attributes, body, severityNumber, time, traced } of records) {
        within(scoped, 2, (record) => {
          record.tag(1, WireType.Bit64).fixed64(time ?? '0');
          if (severityNumber !== undefined) record.tag(2, WireType.Varint).int32(severityNumber);
          if (body !== undefined) within(record, 5, (any) => any.tag(1, WireType.LengthDelimited).string(body));
          protobufPairs(record, 6, attributes);
          record.tag(8, WireType.Bit32).fixed32(1);
          if (traced) {
            record.tag(9, WireType.LengthDelimited).bytes(Buffer.from(TRACE, 'hex'));
            record.tag(10, WireType.LengthDelimited).bytes(Buffer.from(SPAN, 'hex'));
          }
        });
      }
      within(scoped, 1, (scope) => scope.tag(1, WireType.LengthDelimited).string('shop.checkout'));
    });
    // Fields come in any order.
    within(logs, 1, (about) => protobufPairs(about, 1, resource));
  });
  return Buffer.from(writer.finish());
}

const ENCODINGS: [name: string, type: string, encode: typeof json | typeof protobuf][] = [
  ['JSON', 'application/json', json],
  ['protobuf', 'application/x-protobuf', protobuf],
];

async function refusal(bytes: Uint8Array): Promise<string> {
  const error = await parseProtobufLogs(bytes).catch((reason: unknown) => reason);
  return error instanceof InvalidLogsError ? error.message : 'it was read';
}

describe('OpenTelemetry logs', () => {
  let service: TestKernel;
  let server: TestServer;
  beforeEach(async () => {
    fault = new ServiceError('unknown_project', 'The project old is archived.');
    service = await bootTestKernel([fakeAccess, projects, bugs, errorstream, otlp]);
    server = await TestServer.create({ routes: (service.http.mounted?.routes ?? []).map(({ spec }) => spec) });
  });
  afterEach(() => service.stop());

  const send = (payload: string | Buffer, type = 'application/json', headers: object = {}): Promise<Asked> =>
    server.ask('POST', PATH, { bearer: TOKEN, payload, headers: { 'content-type': type, ...headers } });
  const items = async (): Promise<Loose[]> => {
    const list = await server.ask('GET', '/api/bugtracker/v1/bugs', { bearer: 'master:bugtracker:read' });
    return list.body['items'] as unknown as Loose[];
  };
  const errorOf = ({ status, body }: Asked): unknown[] => [status, body['error']?.['code']];

  for (const [name, type, encode] of ENCODINGS) {
    describe(name, () => {
      it('creates a report from a record with an exception, and counts a repeated request once', async () => {
        for (const packed of [false, true]) {
          const body = encode([CRASH]);
          const answer = packed
            ? await send(gzipSync(body), type, { 'content-encoding': 'gzip' })
            : await send(body, type);
          expect(answer.status).to.equal(200);
          expect(answer.headers['content-type']).to.match(
            name === 'JSON' ? /^application\/json/ : /^application\/x-protobuf$/,
          );
        }
        const [item, ...others] = await items();
        expect(others).to.deep.equal([]);
        expect(item).to.include({
          project: 'shop',
          title: 'CartError: no price',
          error_level: 'error',
          file_path: 'shop/cart.py',
          line_no: 41,
          environment: 'production',
          first_build: '1.4.2',
          source: 'sdk',
          hit_count: 1,
          client_ref: `${TRACE}-${SPAN}-1763971200123000000`,
          first_seen_at: '2025-11-24T08:00:00.123Z',
        });
        const whole = await server.ask('GET', `/api/bugtracker/v1/bugs/${item?.['ref'] as unknown as string}`, {
          bearer: 'master:bugtracker:read',
        });
        const [occurrence] = whole.body['occurrences'] as unknown as Loose[];
        expect(occurrence?.['context']).to.deep.include({
          message: 'checkout failed',
          logger: 'shop.checkout',
          trace_id: TRACE,
        });
        expect((occurrence?.['context'] ?? {})['attributes']).to.deep.include({ cart: 4711 });
        expect(occurrence).to.include({ host: 'web-1' });
      });

      it('maps severities fatal and error, and all others to warning', async () => {
        const levels: [number | undefined, string][] = [
          [24, 'fatal'],
          [21, 'fatal'],
          [20, 'error'],
          [17, 'error'],
          [16, 'warning'],
          [9, 'warning'],
          [undefined, 'warning'],
        ];
        for (const [i, [severityNumber]] of levels.entries()) {
          const attributes = { 'exception.type': `Kind${'abcdefg'[i] ?? ''}Error` };
          await send(encode([{ attributes, ...(severityNumber !== undefined && { severityNumber }) }]), type);
        }
        const found = new Map(
          (await items()).map((item) => [item['exception_class'] as unknown as string, item['error_level']]),
        );
        for (const [i, [, level]] of levels.entries())
          expect(found.get(`Kind${'abcdefg'[i] ?? ''}Error`)).to.equal(level);
      });
    });
  }

  it('reports how many records are not errors, in the encoding of the request', async () => {
    const plain: Given = { attributes: { cart: 1 }, body: 'all is well', severityNumber: 9 };
    const answer = await send(json([plain, CRASH, plain]));
    const errorMessage = 'Not accepted: a record without exception.type and exception.message is not an error.';
    expect([answer.status, answer.body]).to.deep.equal([
      200,
      { partialSuccess: { rejectedLogRecords: '2', errorMessage } },
    ]);
    expect((await send(json([CRASH]))).body).to.deep.equal({});
    const { payload } = await server.server.inject({
      method: 'POST',
      url: PATH,
      payload: protobuf([plain]),
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-protobuf' },
    });
    const reader = new BinaryReader(Buffer.from(payload, 'latin1'));
    reader.tag();
    reader.uint32();
    reader.tag();
    expect(Number(reader.int64())).to.equal(1);
    reader.tag();
    expect(reader.string()).to.equal(errorMessage);
  });

  it('requires a project when the token is not bound to a project', async () => {
    const { body } = await send(json([CRASH], { 'service.name': 'unknown' }));
    expect(body['partialSuccess']).to.deep.equal({
      rejectedLogRecords: '1',
      errorMessage: 'Not accepted: neither the token nor service.name determines a project.',
    });
  });

  it('returns the reason why a report was rejected', async () => {
    const { body } = await send(json([CRASH], { 'service.name': 'old' }));
    expect(body['partialSuccess']).to.deep.equal({
      rejectedLogRecords: '1',
      errorMessage: 'Not accepted: The project old is archived.',
    });
  });

  it('returns 500 when the service fails, so that the sender retries the request', async () => {
    fault = new Error('the disk is gone');
    const answer = await send(json([CRASH], { 'service.name': 'old' }));
    expect(errorOf(answer)).to.deep.equal([500, 'internal_error']);
    expect(answer.text).to.not.contain('the disk is gone');
  });

  it('rejects an invalid OTLP request with the error envelope', async () => {
    expect(errorOf(await send('{'))).to.deep.equal([400, 'invalid_json']);
    expect(errorOf(await send('[]'))).to.deep.equal([400, 'invalid_request']);
    expect(errorOf(await send('{"resourceLogs":{}}'))).to.deep.equal([400, 'invalid_request']);
    expect(errorOf(await send(Buffer.from('noise'), 'application/x-protobuf'))).to.deep.equal([400, 'invalid_request']);
    expect(errorOf(await send('x', 'text/plain'))).to.deep.equal([415, 'unsupported_media_type']);
    expect(errorOf(await send(json([CRASH]).replaceAll('exception.', '\\u0065xception.')))).to.deep.equal([
      400,
      'invalid_request',
    ]);
    expect((await server.ask('POST', PATH, { payload: '{}' })).status).to.equal(401);
    expect((await server.ask('POST', PATH, { payload: '{}', bearer: 'master:bugtracker:read' })).status).to.equal(403);
    expect((await send('{}')).status).to.equal(200);
  });

  it('has a separate rate limit that does not affect errors of the same credential', async () => {
    const limits = { ...NO_LIMITS, intake_per_minute: 60, intake_burst: 5 };
    const routes = (service.http.mounted?.routes ?? []).map(({ spec }) => spec);
    server = await TestServer.create({ routes }, { limits });
    expect((await send(json([CRASH, CRASH, CRASH, CRASH, CRASH]))).status).to.equal(200);
    const rejected = await send(json([CRASH]));
    expect(errorOf(rejected)).to.deep.equal([429, 'rate_limited']);
    expect(Number(rejected.headers['retry-after'])).to.be.above(0);
    const report = { project: 'shop', error_level: 'error', error_message: 'no price' };
    const payload = JSON.stringify(report);
    const counted = await server.ask('POST', '/api/errors/v1/report', { bearer: TOKEN, payload });
    expect(counted.status).to.equal(201);
  });

  it('reads any bytes without errors, and stops at its limits', async () => {
    const whole = protobuf([CRASH]);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(whole.length), async (noise, at) => {
        for (const bytes of [noise, Buffer.concat([whole.subarray(0, at), noise])]) {
          try {
            await parseProtobufLogs(bytes);
          } catch (error) {
            expect(error).to.be.instanceOf(InvalidLogsError);
          }
        }
      }),
      { numRuns: 500 },
    );
    expect(await refusal(protobuf(Array.from({ length: 5_001 }, () => ({ attributes: {} }))))).to.match(/5000 records/);
  });
});
