/** What stood beside an error must not cost it (contract 21, amendments; field reports). */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import releasehealth from '../../../plugins/releasehealth/plugin.js';
import { EnvelopeFilter } from '../../../plugins/sentry/envelope-filter.js';
import { parseEnvelope } from '../../../plugins/sentry/envelope.js';
import { NO_LIMITS, type Asked } from '../../adapters/hapi/support.js';
import { AUTH, ENVELOPE, event, Fixture, STORE } from './fixture.js';

const RATE = 'x-sentry-rate-limits';
const MIB = 1024 * 1024;

type Item = [type: string, payload: string | Buffer, header?: object | null];

/** @param items a header of null states no length */
function envelopeOf(items: readonly Item[], header: object = {}): Buffer {
  const lines: Buffer[] = [Buffer.from(JSON.stringify(header))];
  for (const [type, payload, more] of items) {
    const bytes = Buffer.from(payload as string);
    const stated = more === null ? {} : { length: bytes.length, ...more };
    lines.push(Buffer.from(`\n${JSON.stringify({ type, ...stated })}\n`), bytes);
  }
  return Buffer.concat(lines);
}

const errorItem = (): Item => ['event', JSON.stringify(event())];
const sessionItem = (n: number): Item => {
  const started = '2026-11-20T08:15:00Z';
  return [
    'session',
    JSON.stringify({ sid: `s${n}`, init: true, status: 'ok', started, attrs: { release: 'shop@1.0' } }),
  ];
};

describe('sentry intake: limits per category', () => {
  let fixture: Fixture;
  const create = async (intake_burst: number): Promise<void> => {
    const limits = { ...NO_LIMITS, intake_per_minute: 60, intake_burst };
    fixture = await Fixture.create({ limits }, [releasehealth]);
  };
  afterEach(() => fixture.stop());
  const send = (...items: Item[]): Promise<Asked> => fixture.post(ENVELOPE, envelopeOf(items));

  it('charges sessions to a separate limit, and counts errors in the same and later envelopes', async () => {
    await create(5);
    for (let n = 0; n < 5; n++) expect((await send(sessionItem(n))).status).to.equal(200);
    const rejected = await send(sessionItem(5));
    expect(rejected.status).to.equal(429);
    expect(rejected.headers[RATE]).to.equal(`${String(rejected.headers['retry-after'])}:session:key`);
    const beside = await send(sessionItem(6), errorItem());
    expect(beside.status).to.equal(200);
    expect(beside.headers[RATE]).to.match(/^\d+:session:key$/);
    const after = await send(errorItem());
    expect([after.status, after.headers[RATE]]).to.deep.equal([200, undefined]);
    expect((await fixture.items())[0]).to.include({ hit_count: 2 });
  });

  it('charges errors to a separate limit, and still counts sessions', async () => {
    await create(2);
    for (let n = 0; n < 2; n++) expect((await send(errorItem())).status).to.equal(200);
    for (const rejected of [await send(errorItem()), await fixture.post(STORE, JSON.stringify(event()))]) {
      expect(rejected.status).to.equal(429);
      expect(rejected.headers[RATE]).to.match(/^\d+:error:key$/);
    }
    expect((await send(sessionItem(1))).status).to.equal(200);
    const both = await send(errorItem(), sessionItem(2));
    expect(both.status).to.equal(200);
    expect(both.headers[RATE]).to.match(/^\d+:error:key$/);
  });

  for (const type of ['transaction', 'client_report', 'attachment', 'profile', 'replay_event', 'made_up'])
    it(`does not charge ${type}`, async () => {
      await create(3);
      for (let n = 0; n < 20; n++) expect((await send([type, '{}'])).status).to.equal(200);
      for (let n = 0; n < 3; n++) expect((await send(errorItem(), [type, '{}'])).status).to.equal(200);
      expect((await send(errorItem())).status).to.equal(429);
    });

  it('limits calls too, regardless of content', async () => {
    await create(1);
    for (let n = 0; n < 10; n++) expect((await send(['transaction', '{}'])).status).to.equal(200);
    const rejected = await send(['transaction', '{}']);
    expect(rejected.status).to.equal(429);
    expect(rejected.headers[RATE]).to.match(/^\d+::key$/);
  });
});

describe('sentry intake: items next to an event', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create();
  });
  after(() => fixture.stop());
  let hits = 0;
  const countedOnce = async (answer: Asked): Promise<void> => {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect((await fixture.items())[0]).to.include({ hit_count: ++hits });
  };
  const shot = (bytes: number, content: Buffer = Buffer.alloc(bytes, '\n{"type":"event"}\n')): Item => [
    'attachment',
    content,
    { filename: 'screenshot.png', content_type: 'image/png' },
  ];
  const GZIP = { ...AUTH, 'content-encoding': 'gzip' };
  const BY_QUERY = `${ENVELOPE}?sentry_key=intake:shop`;

  for (const [what, send] of [
    ['of 2,000,000 bytes', () => fixture.post(ENVELOPE, envelopeOf([errorItem(), shot(2_000_000)]))],
    ['before the event', () => fixture.post(ENVELOPE, envelopeOf([shot(2_000_000), errorItem()]))],
    ['on both sides', () => fixture.post(BY_QUERY, envelopeOf([shot(3 * MIB), errorItem(), shot(3 * MIB)]), {})],
    ['that is compressed', () => fixture.post(ENVELOPE, gzipSync(envelopeOf([errorItem(), shot(20 * MIB)])), GZIP)],
    [
      'that compression leaves large',
      () => fixture.post(ENVELOPE, gzipSync(envelopeOf([shot(0, randomBytes(3 * MIB)), errorItem()])), GZIP),
    ],
  ] as const)
    it(`counts the event next to an attachment ${what}`, async () => {
      const answer = await send();
      await countedOnce(answer);
      expect(answer.headers[RATE]).to.equal('3600:attachment:key');
      expect(JSON.stringify(answer.body['warnings'])).to.match(/attachment.*was skipped/);
    });

  it('rejects a compressed envelope truncated within a large attachment', async () => {
    const bytes = gzipSync(envelopeOf([errorItem(), shot(0, randomBytes(3 * MIB))]));
    const answer = await fixture.post(ENVELOPE, bytes.subarray(0, bytes.length - 500), GZIP);
    expect([answer.status, answer.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('rejects an event that is too large, both compressed and decompressed', async () => {
    const large = ['event', JSON.stringify(event({ extra: { text: 'x'.repeat(9 * MIB) } }))] as Item;
    const plain = envelopeOf([large, shot(2 * MIB)]);
    expect((await fixture.post(ENVELOPE, plain)).status).to.equal(413);
    expect((await fixture.post(ENVELOPE, gzipSync(plain), GZIP)).status).to.equal(413);
  });

  it('skips and logs any other item that is too large', async () => {
    const feedback = ['feedback', 'x'.repeat(3 * MIB)] as Item;
    const answer = await fixture.post(ENVELOPE, envelopeOf([feedback, errorItem()]));
    await countedOnce(answer);
    expect(answer.body['warnings']).to.deep.equal([
      `An item "feedback" of ${3 * MIB} bytes was skipped: it is too large.`,
    ]);
  });

  for (const [what, tail] of [
    ['a header that is no JSON', '\nno header\n{}'],
    ['a length beyond the end', '\n{"type":"attachment","length":9000}\nabc'],
    ['an unreadable session', '\n{"type":"feedback"}\n{"broken":'],
  ] as const)
    it(`counts the event before ${what}, and logs it`, async () => {
      const answer = await fixture.post(ENVELOPE, Buffer.concat([envelopeOf([errorItem()]), Buffer.from(tail)]));
      await countedOnce(answer);
      expect(answer.body['warnings']).to.have.lengthOf(1);
    });

  it('replaces and logs invalid UTF-8 bytes', async () => {
    const broken = Buffer.from(JSON.stringify(event({ extra: { path: 'C:/?/x' } })).replace('?', 'QQ'));
    broken[broken.indexOf('QQ')] = 0xe9;
    for (const answer of [
      await fixture.post(ENVELOPE, envelopeOf([['event', broken]])),
      await fixture.post(STORE, broken),
    ]) {
      expect(answer.status).to.equal(200);
      expect(JSON.stringify(answer.body['warnings'])).to.include('UTF-8');
    }
  });
});

describe('envelope filter', () => {
  const stores = (type: string): boolean => type === 'event' || type === 'session';

  it('extracts the same event as from an envelope without other items, for any chunks (property)', () => {
    const items: Item[] = [
      ['attachment', '\n\n{"type":"event"}\n'],
      ['event', '{"a":"\u00e4"}'],
      ['transaction', '{"b":1}', null],
      ['session', '{"c":1}', null],
      ['session', 'x'.repeat(60)],
      ['attachment', ''],
      ['event', '{"d":1}'],
    ];
    const bytes = envelopeOf(items, { event_id: 'e' });
    for (let size = 1; size < 40; size++) {
      const sieve = new EnvelopeFilter(stores, 50);
      const kept: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) kept.push(...sieve.push(bytes.subarray(at, at + size)));
      kept.push(...sieve.end());
      const read = parseEnvelope(Buffer.concat(kept));
      if (typeof read === 'string') throw new Error(read);
      expect(read.items.map(({ type, payload, skipped }) => [type, payload.toString(), skipped])).to.deep.equal([
        ['attachment', '', 19],
        ['event', '{"a":"ä"}', undefined],
        ['transaction', '', true],
        ['session', '{"c":1}', undefined],
        ['session', '', 60],
        ['attachment', '', undefined],
        ['event', '{"d":1}', undefined],
      ]);
    }
  });
});
