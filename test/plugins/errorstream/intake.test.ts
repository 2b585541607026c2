/** POST /api/errors/v1/report (contract 21, intake), through the HTTP adapter and the kernel. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Asked, Loose } from '../../adapters/hapi/support.js';
import { NO_LIMITS } from '../../adapters/hapi/support.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Collection, Doc, DocumentStore } from '../../../ports/store/index.js';
import { error, PATH, Fixture, TOKEN } from './fixture.js';

const OUT = (
  'status id ref created ignored ignore_rule_id dedup_key title severity urgency ' +
  'item_status hit_count hour_count regression sampled truncated'
).split(' ');
const seen = ({ status, code }: Asked): [number, string] => [status, code];
const value = (answer: Asked, name: string): unknown => answer.body[name];
const results = (answer: Asked): Loose[] => answer.body['results'] as unknown as Loose[];

describe('errorstream: intake', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await Fixture.create()));
  afterEach(() => fixture.stop());

  it('returns 201 for a new and 200 for an existing group, with exactly the fields of the contract', async () => {
    const first = await fixture.post(error());
    expect(first.status).to.equal(201);
    expect(first.body).to.have.all.keys(OUT);
    expect(first.body).to.deep.include({
      status: 'success',
      ref: 'alpha-1',
      created: true,
      ignored: false,
      ignore_rule_id: null,
      title: 'CartError: cart is empty',
      severity: 'high',
      urgency: 'high',
      item_status: 'open',
      hit_count: 1,
      hour_count: 1,
      regression: false,
      sampled: true,
      truncated: [],
    });
    expect(value(first, 'dedup_key')).to.match(/^v2:[0-9a-f]{40}$/);
    const second = await fixture.post(error({ line: 12, environment: 'dev' }));
    expect(second.status).to.equal(200);
    expect(second.body).to.have.all.keys(OUT);
    expect(second.body).to.deep.include({ created: false, hit_count: 2, hour_count: 2, id: value(first, 'id') });
  });

  it('lists unknown fields in `warnings`, alone and in a list, and accepts the report', async () => {
    const alone = await fixture.post(error({ customer: 'ada', user: { id: 7, shoe_size: 43 }, context: { any: 1 } }));
    expect(alone.status).to.equal(201);
    expect(alone.body['warnings']).to.deep.equal([
      'customer is no field of this call',
      'user.shoe_size is no field of this call',
    ]);
    const list = await fixture.post([
      error(),
      error({ customer: 'ada' }),
      error({ user: { id: 7, shoe_size: 43 } }),
      'x',
    ]);
    expect(list.status).to.equal(200);
    expect(results(list)).to.have.length(4);
    expect(list.body['warnings']).to.deep.equal([
      '1.customer is no field of this call',
      '2.user.shoe_size is no field of this call',
    ]);
    expect((await fixture.post([error(), error()])).body).to.have.all.keys('status', 'results');
  });

  it('counts users of reports, alone and in a list, without storing their names', async () => {
    const named = (id: unknown): object => error({ user: { id } });
    const one = await fixture.post(named('ada-4711'));
    expect(one.status).to.equal(201);
    await fixture.post([
      named('ada-4711'),
      named('bob-4712'),
      named(4713),
      error(),
      error({ user: null }),
      named(null),
    ]);
    const { item } = await fixture.detail(String(value(one, 'id')));
    expect(item).to.include({ people: 3, hit_count: 7 });
    expect(JSON.stringify(item)).not.to.match(/471[123]/);
    for (const user of ['ada', ['ada'], { id: ['ada'] }, { id: { of: 'ada' } }]) {
      const rejected = await fixture.post(error({ user }));
      expect(seen(rejected), JSON.stringify(user)).to.deep.equal([422, 'validation_failed']);
    }
    const long = await fixture.post(named('x'.repeat(201)));
    expect(value(long, 'truncated')).to.deep.equal(['user']);
  });

  it('derives file and line from a trace without location fields', async () => {
    const trace =
      'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 12, in total\n    raise E\nE: no';
    const answer = await fixture.post(error({ file: null, line: null, stack_trace: trace }));
    const { item, occurrences } = await fixture.detail(value(answer, 'id') as string);
    const place = { file_path: '/srv/shop/cart.py', line_no: 12 };
    expect(item).to.include(place);
    expect(occurrences[0]).to.include(place);
  });

  it('stores the report under the field names of the bug tracker', async () => {
    const sent = {
      line_no: 12,
      stack_trace: 'Error: cart is empty\n    at f (src/cart.ts:12:3)',
      environment: 'production',
      release: '1.4.2',
      commit_sha: 'abc123',
      repo_url: 'https://git.example/shop',
      host: 'web-1',
      occurred_at: '2026-11-20T09:00:00.5+01:00',
      client_ref: 'r-1',
      tags: ['eu', '', 'shop'],
      context: { order: 17, deep: { a: [1, null] } },
      breadcrumbs: [{ at: 1 }, 'clicked'],
      unknown_field: 1,
    };
    const { file: _, ...rest } = error(sent) as { file: string };
    const answer = await fixture.post({ ...rest, file_path: 'src/cart.ts' });
    expect(answer.status).to.equal(201);
    const { item, occurrences } = await fixture.detail(value(answer, 'id') as string);
    expect(item).to.deep.include({
      type: 'error',
      source: 'app',
      error_level: 'error',
      error_message: 'cart is empty',
      exception_class: 'shop.CartError',
      file_path: 'src/cart.ts',
      line_no: 12,
      stack_trace: sent.stack_trace,
      environment: 'production',
      app_version: '1.4.2',
      commit_sha: 'abc123',
      repo_url: 'https://git.example/shop',
      client_ref: 'r-1',
      tags: ['eu', 'shop'],
      first_seen_at: '2026-11-20T08:00:00.500Z',
    });
    expect(occurrences).to.have.lengthOf(1);
    expect(occurrences[0]).to.deep.include({
      host: 'web-1',
      occurred_at: '2026-11-20T08:00:00.500Z',
      context: sent.context,
      breadcrumbs: sent.breadcrumbs,
    });
  });

  it('records the token as the actor of `created`', async () => {
    const answer = await fixture.post(error());
    const history = await fixture.server.ask(
      'GET',
      `/api/bugtracker/v1/bugs/${value(answer, 'id') as string}/activity`,
      {
        bearer: 'master:bugtracker:read',
      },
    );
    const [entry] = history.body['items'] as unknown as Loose[];
    expect(entry).to.include({ action: 'created', actor: 'master' });
  });

  it('uses the receive time for a missing or future time', async () => {
    for (const occurred_at of ['2031-01-01T00:00:00Z', null]) {
      const answer = await fixture.post(error({ occurred_at, exception_class: `At${occurred_at}` }));
      const { item } = await fixture.detail(value(answer, 'id') as string);
      expect(item['first_seen_at']).to.equal(fixture.service.clock.iso());
    }
  });

  it('counts a repeated client_ref once', async () => {
    const first = await fixture.post(error({ client_ref: 'r-1' }));
    const again = await fixture.post(error({ client_ref: 'r-1', error_message: 'something else' }));
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.body).to.deep.include({ id: value(first, 'id'), created: false, hit_count: 1, sampled: false });
  });

  it('accepts a message without class and a class without message', async () => {
    const bare = await fixture.post({ project: 'alpha', error_level: 'fatal', error_message: 'it breaks' });
    expect(bare.body).to.deep.include({ title: 'it breaks', urgency: 'critical' });
    const silent = await fixture.post(error({ error_message: '' }));
    expect([silent.status, value(silent, 'title')]).to.deep.equal([201, 'CartError']);
    const nothing = await fixture.post(error({ error_message: ' ', exception_class: '' }));
    expect(seen(nothing)).to.deep.equal([422, 'validation_failed']);
    expect(nothing.fields).to.have.all.keys('error_message');
  });

  const bad: [string, object, string][] = [
    ['no project', { project: undefined }, 'project'],
    ['no level', { error_level: undefined }, 'error_level'],
    ['an unknown level', { error_level: 'info' }, 'error_level'],
    ['no message', { error_message: undefined }, 'error_message'],
    ['a null message', { error_message: null }, 'error_message'],
    ['a number for a message', { error_message: 5 }, 'error_message'],
    ['text for a line', { line: '5' }, 'line'],
    ['a negative line', { line: -1 }, 'line'],
    ['an invalid time', { occurred_at: 'yesterday' }, 'occurred_at'],
    ['a time without zone', { occurred_at: '2026-11-20T08:00:00' }, 'occurred_at'],
    ['an invalid month', { occurred_at: '2026-13-20T08:00:00Z' }, 'occurred_at'],
    ['text for tags', { tags: 'a' }, 'tags'],
    ['numbers for tags', { tags: [1] }, 'tags.0'],
    ['a list for context', { context: [] }, 'context'],
    ['an object for breadcrumbs', { breadcrumbs: {} }, 'breadcrumbs'],
    ['text for a fingerprint', { fingerprint: 'a' }, 'fingerprint'],
    ['a long client_ref', { client_ref: 'x'.repeat(201) }, 'client_ref'],
  ];
  for (const [name, fields, path] of bad) {
    it(`rejects ${name}, alone and in a list`, async () => {
      const alone = await fixture.post(error(fields));
      expect(seen(alone)).to.deep.equal([422, 'validation_failed']);
      expect(alone.fields).to.have.all.keys(path);
      expect(await fixture.items()).to.equal(0);
      const list = await fixture.post([error(fields), error()]);
      expect(list.status).to.equal(200);
      const [wrong, right] = results(list);
      expect(wrong).to.have.all.keys('error');
      expect(wrong?.['error']).to.deep.include({ code: 'validation_failed' });
      expect(wrong?.['error']?.['fields']).to.deep.equal(alone.fields);
      expect(right).to.deep.include({ created: true });
    });
  }

  it('rejects a value that is not an object, and an unknown project', async () => {
    for (const body of ['"x"', '5', 'null', 'true', '{', '']) {
      const answer = await fixture.server.ask('POST', PATH, {
        bearer: TOKEN,
        payload: body,
        headers: { 'content-type': 'application/json' },
      });
      expect(seen(answer), body).to.deep.equal([400, 'invalid_json']);
    }
    expect(seen(await fixture.post(error({ project: 'nowhere' })))).to.deep.equal([422, 'unknown_project']);
    expect(await fixture.items()).to.equal(0);
  });

  describe('limits', () => {
    it('truncates longer values and reports them by the caller’s field names', async () => {
      const answer = await fixture.post(
        error({
          error_message: 'm'.repeat(9000),
          exception_class: 'C'.repeat(300),
          stack_trace: 's'.repeat(70_000),
          file: undefined,
          file_path: `${'d/'.repeat(600)}end.ts`,
          environment: 'e'.repeat(300),
          build: 'b'.repeat(300),
          host: 'h'.repeat(300),
          tags: Array.from({ length: 40 }, (_, i) => `t${i}`),
          context: { first: 1, blob: 'x'.repeat(40_000) },
          breadcrumbs: Array.from({ length: 60 }, (_, i) => ({ n: i })),
        }),
      );
      expect(answer.status).to.equal(201);
      const truncated = value(answer, 'truncated') as string[];
      expect(truncated.toSorted()).to.deep.equal([
        'breadcrumbs',
        'build',
        'context',
        'environment',
        'error_message',
        'exception_class',
        'file_path',
        'host',
        'stack_trace',
        'tags',
      ]);
      const { item, occurrences } = await fixture.detail(value(answer, 'id') as string);
      expect(item['error_message']).to.have.lengthOf(8192);
      expect(item['stack_trace']).to.have.lengthOf(65_536);
      expect(item['exception_class']).to.have.lengthOf(200);
      expect(item['file_path'])
        .to.match(/d\/end\.ts$/)
        .and.to.have.lengthOf(1024);
      expect(item['tags']).to.have.lengthOf(32);
      expect(occurrences[0]?.['breadcrumbs']).to.have.lengthOf(50);
      expect(occurrences[0]?.['breadcrumbs']?.[49 as never]).to.deep.equal({ n: 59 });
      expect(JSON.stringify(occurrences[0]?.['context']).length).to.be.at.most(32_768);
      expect(occurrences[0]?.['context']).to.include({ first: 1 });
    });

    it('truncates nothing within the limit, counted in characters', async () => {
      const answer = await fixture.post(
        error({
          error_message: '😀'.repeat(8192),
          exception_class: 'ß'.repeat(200),
          stack_trace: 'ü'.repeat(65_536),
          tags: Array.from({ length: 32 }, () => 't'),
          context: { a: 'x'.repeat(32_760) },
          breadcrumbs: Array.from({ length: 50 }, () => 'b'),
        }),
      );
      expect([answer.status, value(answer, 'truncated')]).to.deep.equal([201, []]);
    });
  });

  describe('lists', () => {
    it('returns a result per element, in order, as for single reports', async () => {
      const at = (file?: string) => error({ file, exception_class: 'E', error_message: 'm' });
      const answer = await fixture.post([
        at(),
        at('a/cart.ts'),
        at('a/checkout.ts'),
        at(),
        5,
        error({ project: 'nowhere' }),
        error({ exception_class: 'Other' }),
      ]);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.have.all.keys('status', 'results');
      const all = results(answer);
      const [none, cart, checkout, again, number, nowhere, other] = all;
      expect(none).to.have.all.keys(OUT.filter((name) => name !== 'status'));
      expect(all.slice(0, 4).map((one) => one['created'])).to.deep.equal([true, false, true, false]);
      expect(cart?.['id']).to.equal(none?.['id']);
      expect(checkout?.['id']).not.to.equal(none?.['id']);
      expect(again?.['id']).to.equal(none?.['id']);
      expect(number?.['error']).to.deep.include({ code: 'validation_failed' });
      expect(nowhere?.['error']).to.deep.include({ code: 'unknown_project' });
      expect(other).to.deep.include({ created: true, hit_count: 1 });
      expect(await fixture.items()).to.equal(3);
    });

    it('accepts 1 to 100 elements', async () => {
      const full = await fixture.post(Array.from({ length: 100 }, (_, i) => error({ exception_class: `C${i % 10}` })));
      expect(full.status).to.equal(200);
      expect(results(full)).to.have.lengthOf(100);
      expect(Math.max(...results(full).map((one) => one['hit_count'] as unknown as number))).to.equal(10);
      expect(await fixture.items()).to.equal(10);
      expect(seen(await fixture.post(Array.from({ length: 101 }, () => error())))).to.deep.equal([
        422,
        'validation_failed',
      ]);
      expect(seen(await fixture.post([]))).to.deep.equal([422, 'validation_failed']);
    });
  });

  describe('bodies', () => {
    const packed: [string, (body: string) => Buffer][] = [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ];
    for (const [encoding, pack] of packed) {
      it(`accept ${encoding}`, async () => {
        const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
        const big = pack(JSON.stringify(error({ stack_trace: 's'.repeat(2_000_000) })));
        const answer = await fixture.server.ask('POST', PATH, { bearer: TOKEN, headers, payload: big });
        expect([answer.status, value(answer, 'truncated')]).to.deep.equal([201, ['stack_trace']]);
        const bomb = pack(JSON.stringify(error({ stack_trace: 's'.repeat(9_000_000) })));
        const rejected = await fixture.server.ask('POST', PATH, { bearer: TOKEN, headers, payload: bomb });
        expect(seen(rejected)).to.deep.equal([413, 'payload_too_large']);
      });
    }
  });

  describe('credentials', () => {
    it('allows browsers of other origins', async () => {
      const answer = await fixture.post(error(), { headers: { origin: 'https://shop.example' } });
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      const requested = await fixture.server.ask('OPTIONS', PATH, {
        headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
      });
      expect([requested.status, requested.headers['access-control-allow-origin']]).to.deep.equal([204, '*']);
    });
  });

  it('scrubs secrets before any write, and groups independently of them', async () => {
    const body = (password: string): object =>
      error({
        error_message: `login failed: password=${password}`,
        context: { password, url: `/a?token=${password}` },
      });
    const first = await fixture.post(body('hunter2-sesame'));
    const second = await fixture.post(body('other-sesame'));
    expect(value(first, 'title')).to.equal('CartError: login failed: password=[scrubbed]');
    expect(value(second, 'id')).to.equal(value(first, 'id'));
    expect(JSON.stringify(await fixture.detail(value(first, 'id') as string))).not.to.include('sesame');
  });
});

describe('errorstream: rates', () => {
  it('charges every element of a list', async () => {
    const fixture = await Fixture.create({}, { limits: { ...NO_LIMITS, intake_per_minute: 60, intake_burst: 10 } });
    try {
      expect((await fixture.post(Array.from({ length: 8 }, () => error()))).status).to.equal(200);
      const rejected = await fixture.post(Array.from({ length: 3 }, () => error()));
      expect(seen(rejected)).to.deep.equal([429, 'rate_limited']);
      expect(rejected.headers).to.include.keys(
        'retry-after',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
      );
      expect((await fixture.post(error())).status).to.equal(200);
    } finally {
      await fixture.stop();
    }
  });
});

describe('errorstream: failures', () => {
  /** The store, whose collection throws while `failing` says so. */
  function breakable(real: DocumentStore, failing: (collection: string) => boolean): DocumentStore {
    const member = (target: object, property: string | symbol): unknown => {
      const found: unknown = Reflect.get(target, property, target);
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    };
    const collection = <T extends Doc>(name: string): Collection<T> =>
      new Proxy(real.collection<T>(name), {
        get: (target, property) => {
          if (failing(name)) throw new Error('the disk is gone');
          return member(target, property);
        },
      });
    return new Proxy(real, {
      get: (target, property) => (property === 'collection' ? collection : member(target, property)),
    });
  }

  it('returns 500 when no element of a list was stored, and otherwise reports the failed elements', async () => {
    let broken = false;
    const store = breakable(new MemoryStore(), (name) => broken && name === 'bugs_families');
    const fixture = await Fixture.create({ store });
    try {
      expect((await fixture.post(error({ exception_class: 'Known' }))).status).to.equal(201);
      broken = true;
      const some = await fixture.post([error({ exception_class: 'Known' }), error({ exception_class: 'New' })]);
      expect(some.status).to.equal(200);
      expect(results(some)[0]).to.deep.include({ hit_count: 2 });
      expect(results(some)[1]?.['error']).to.deep.include({ code: 'internal_error' });
      expect(fixture.service.log.messages('error')).to.include('a report of a list could not be stored');
      expect(seen(await fixture.post([error({ exception_class: 'New' })]))).to.deep.equal([500, 'internal_error']);
    } finally {
      await fixture.stop();
    }
  });
});
