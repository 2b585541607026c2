/** The routes over HTTP: statuses, codes, fields (contract 20, endpoints), and the plugin in a kernel. */
import { fakeAccess } from '../../../support/access.js';
import { expect } from 'chai';
import plugin from '../../../../plugins/bugs/plugin.js';
import { routes } from '../../../../plugins/bugs/http/routes.js';
import { definePlugin } from '../../../../kernel/contract.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import { boot } from '../../../harness.js';
import { NO_LIMITS, TestServer, type Asked } from '../../../adapters/hapi/support.js';
import { memoryFixture, settled, type Fixture } from '../fixture.js';

const REPORT = 'master:bugtracker:report';
const READ = 'master:bugtracker:read';
const MANAGE = 'master:bugtracker:manage';
const BASE = '/api/bugtracker/v1';

describe('bugs: routes', () => {
  let fixture: Fixture;
  let server: TestServer;
  beforeEach(async () => {
    fixture = await memoryFixture();
    server = await TestServer.create({ routes: routes(fixture) });
  });
  afterEach(() => settled(fixture));

  const ask = (
    method: string,
    path: string,
    bearer: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Asked> =>
    server.ask(method, `${BASE}${path}`, {
      bearer,
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { payload: JSON.stringify(body) }),
    });
  const seen = ({ status, code }: Asked): [number, string | undefined] => [status, code];
  const make = async (fields: object = {}): Promise<Item> =>
    (await ask('POST', '/report', REPORT, { project: 'alpha', title: 'It breaks', ...fields })).body[
      'item'
    ] as unknown as Item;

  it('charges a bulk change by its items: each hundred are a call', async () => {
    server = await TestServer.create({ routes: routes(fixture) }, { limits: { ...NO_LIMITS, bulk_per_minute: 4 } });
    const bulk = (n: number): Promise<Asked> =>
      ask('POST', '/bugs/bulk', MANAGE, {
        ids: Array.from({ length: n }, (_, i) => `alpha-${i + 1}`),
        set: { severity: 'low' },
      });
    expect(seen(await bulk(200))).to.deep.equal([404, 'not_found']);
    expect((await bulk(100)).status).to.equal(404);
    expect(seen(await bulk(200))).to.deep.equal([429, 'rate_limited']);
  });

  it('reports: 201, then 200 for a match and for a known client_ref', async () => {
    const body = { project: 'alpha', title: 'It breaks', client_ref: 'r1', urgency: 'high', build: '1.0', unknown: 1 };
    const first = await ask('POST', '/report', REPORT, body);
    expect(first.status).to.equal(201);
    expect(first.body).to.include({
      ref: 'alpha-1',
      created: true,
      deduplicated: false,
      item_status: 'open',
      severity: 'high',
      client_ref: 'r1',
    });
    expect(first.body['item']).to.include({ app_version: '1.0', source: 'agent', type: 'bug' });
    const again = await ask('POST', '/report', REPORT, body);
    expect([again.status, again.body['id'], again.body['deduplicated']]).to.deep.equal([200, first.body['id'], false]);
    const match = await ask('POST', '/report', REPORT, { project: 'alpha', title: 'It breaks' });
    expect([match.status, match.body['id'], match.body['deduplicated']]).to.deep.equal([200, first.body['id'], true]);
  });

  const bad: [string, object, string][] = [
    ['no title', { project: 'alpha' }, 'title'],
    ['a long title', { project: 'alpha', title: 'x'.repeat(201) }, 'title'],
    ['an empty title', { project: 'alpha', title: '  ' }, 'title'],
    ['a long client_ref', { project: 'alpha', title: 'x', client_ref: 'x'.repeat(201) }, 'client_ref'],
    ['an unknown type', { project: 'alpha', title: 'x', type: 'task' }, 'type'],
    ['an unknown severity', { project: 'alpha', title: 'x', severity: 'urgent' }, 'severity'],
    ['text for a line', { project: 'alpha', title: 'x', line_no: '5' }, 'line_no'],
    ['no project', { title: 'x' }, 'project'],
  ];
  for (const [name, body, field] of bad) {
    it(`rejects a report with ${name}`, async () => {
      const answer = await ask('POST', '/report', REPORT, body);
      expect(seen(answer)).to.deep.equal([422, 'validation_failed']);
      expect(answer.fields).to.have.property(field);
      expect(await fixture.deps.items.count()).to.equal(0);
    });
  }

  it('names in `warnings` what no contract names', async () => {
    const { id } = await make();
    const path = `/bugs/${id}`;
    const { body } = await ask('PATCH', path, MANAGE, { titel: 'Changed', set: 1 });
    expect(body['warnings']).to.deep.equal(['titel is no field of this call', 'set is no field of this call']);
    const next = await ask('POST', '/bugs?action=next', MANAGE, { agnet: 'x' });
    expect(next.body).to.include.keys('item', 'lease');
    expect(next.body['warnings']).to.deep.equal(['agnet is no field of this call']);
  });

  it('stores the build of a fix in a report as in a change, and rejects an invalid one', async () => {
    const send = (resolved_in_build: string) =>
      ask('POST', '/report', REPORT, { project: 'alpha', title: `Fixed in ${resolved_in_build}`, resolved_in_build });
    for (const [given, stored] of [
      ['shop@v1.4.0', '1.4.0'],
      ['vanilla-7', 'vanilla-7'],
      ['', null],
    ] as const)
      expect((await send(given)).body['item']).to.include({ resolved_in_build: stored });
    const { status, body } = await send('banana!!');
    expect(status).to.equal(422);
    expect((body['error'] as { fields: object }).fields).to.have.keys('resolved_in_build');
  });

  it('cuts long texts and says so', async () => {
    const answer = await ask('POST', '/report', REPORT, {
      project: 'alpha',
      title: 'x',
      stack_trace: 's'.repeat(70_000),
      error_message: 'e'.repeat(9000),
    });
    expect(answer.status).to.equal(201);
    expect(answer.body['truncated']).to.deep.equal(['error_message', 'stack_trace']);
    expect((answer.body['item'] as unknown as Item).stack_trace).to.have.lengthOf(65_536);
  });

  it('requires the scope of the call', async () => {
    const { id } = await make();
    const table: [string, string, string, object | undefined][] = [
      ['POST', '/report', READ, { project: 'alpha', title: 'x' }],
      ['GET', '/bugs', REPORT, undefined],
      ['GET', '/bugs?action=next', READ, undefined],
      ['POST', '/bugs?action=next', READ, undefined],
      ['PATCH', `/bugs/${id}`, READ, { title: 'x' }],
      ['POST', `/bugs/${id}/claim`, READ, {}],
      ['POST', `/bugs/${id}/comments`, READ, { body: 'x' }],
      ['GET', '/projects', 'master:license:read', undefined],
    ];
    for (const [method, path, bearer, body] of table) {
      expect(seen(await ask(method, path, bearer, body)), `${method} ${path}`).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
    }
    expect((await ask('GET', '/projects', REPORT)).status).to.equal(200);
  });

  it('rejects unknown queries', async () => {
    const table = [
      'colour=red',
      'severity=urgent',
      'muted=maybe',
      'limit=0',
      'limit=201',
      'sort=title',
      'updated_since=soon',
      'agent=a',
      'action=last',
      'action=next&limit=5',
      'updated_since=2026-01-01T00:00:00Z&sort=hit_count',
    ];
    for (const query of table) {
      expect(seen(await ask('GET', `/bugs?${query}`, MANAGE)), query).to.deep.equal([400, 'invalid_request']);
    }
    expect(seen(await ask('GET', '/bugs?cursor=abc', READ))).to.deep.equal([400, 'invalid_cursor']);
    expect(seen(await ask('GET', '/bugs?updated_since=2026-01-01T00:00:00Z&cursor=abc', READ))).to.deep.equal([
      400,
      'invalid_cursor',
    ]);
    expect(seen(await ask('POST', '/bugs', MANAGE))).to.deep.equal([400, 'invalid_request']);
    expect(seen(await ask('GET', '/bugs?action=next&lease_seconds=59', MANAGE))).to.deep.equal([
      400,
      'invalid_request',
    ]);
    expect(seen(await ask('POST', '/bugs?action=next', MANAGE, { lease_seconds: 14_401 }))).to.deep.equal([
      422,
      'validation_failed',
    ]);
  });

  it('lists with repeated filters and a delta mark', async () => {
    await make();
    await make({ title: 'Other', severity: 'low' });
    const list = await ask(
      'GET',
      '/bugs?severity=low&severity=medium&project=alpha&muted=false&include_total=true',
      READ,
    );
    expect(list.body).to.include({ total: 2, has_more: false, next_cursor: null });
    const delta = await ask('GET', '/bugs?updated_since=2026-01-01T01:00:00%2B01:00&limit=1', READ);
    expect(delta.body).to.include({ has_more: true });
    expect(delta.body['server_time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('hands out, renews, comments, resolves: an agent’s day', async () => {
    const item = await make();
    const next = await ask('POST', '/bugs?action=next', MANAGE, { agent: 'bot', lease_seconds: 600 });
    expect(next.headers['cache-control']).to.equal('no-store');
    expect((next.body['item'] as unknown as Item).id).to.equal(item.id);
    const { claim_token, lease_seconds } = next.body['lease'] as unknown as {
      claim_token: string;
      lease_seconds: number;
    };
    expect(lease_seconds).to.equal(600);
    expect((await ask('GET', '/bugs?action=next&agent=bot', MANAGE)).body).to.include({ item: null });
    const foreign = await ask('POST', `/bugs/${item.ref}/claim`, 'master#2:bugtracker:manage', { agent: 'other' });
    expect(seen(foreign)).to.deep.equal([409, 'already_claimed']);
    expect((foreign.body['error'] as unknown as { claim: object }).claim).to.have.all.keys(
      'agent',
      'expires_at',
      'yours',
    );
    expect((await ask('POST', `/bugs/${item.ref}/renew`, MANAGE, { claim_token })).status).to.equal(200);
    expect((await ask('POST', `/bugs/${item.ref}/comments`, MANAGE, { body: 'looking', claim_token })).status).to.equal(
      201,
    );
    const patched = await ask(
      'PATCH',
      `/bugs/${item.ref}`,
      MANAGE,
      { status: 'resolved', claim_token },
      { 'if-match': '"99"' },
    );
    expect(seen(patched)).to.deep.equal([412, 'precondition_failed']);
    const done = await ask('PATCH', `/bugs/${item.ref}`, MANAGE, {
      status: 'resolved',
      resolved_in_build: '1.1',
      claim_token,
    });
    expect(done.body['item']).to.include({ status: 'resolved', claim: null });
    const detail = await ask('GET', `/bugs/${item.ref}`, READ);
    expect(detail.body).to.include.keys('item', 'occurrences', 'comments', 'activity');
    expect((await ask('GET', `/bugs/${item.id}/activity?include_total=true`, READ)).body).to.include({ total: 6 });
    expect(seen(await ask('POST', `/bugs/${item.id}/release`, MANAGE, { claim_token }))).to.deep.equal([
      409,
      'lease_lost',
    ]);
  });

  it('returns 404 for a missing item in every call', async () => {
    for (const id of ['alpha-99', '01980000-0000-7000-8000-000000000000', '%00', '..%2f..', '$where']) {
      expect(seen(await ask('GET', `/bugs/${id}`, READ)), id).to.deep.equal([404, 'not_found']);
      expect(seen(await ask('PATCH', `/bugs/${id}`, MANAGE, { title: 'x' })), id).to.deep.equal([404, 'not_found']);
      expect(seen(await ask('POST', `/bugs/${id}/claim`, MANAGE, {})), id).to.deep.equal([404, 'not_found']);
    }
  });
});

describe('bugs: the plugin', () => {
  it('boots in a kernel, accepts a report and emits its event', async () => {
    const told: string[] = [];
    const projects = definePlugin({
      id: 'projects',
      version: '1.0.0',
      api: 1,
      title: 'Projects',
      provides: ['projects.directory'],
      extensionPoints: ['projects.usage', 'projects.belongings'],
      setup: () => ({
        services: {
          'projects.directory': { accepting: async () => ({}), get: async () => null, list: async () => [] },
        },
        listens: [{ event: 'bug.created', handle: (event) => void told.push(event.event) }],
      }),
    });
    const service = await boot([fakeAccess, projects, plugin]);
    try {
      const route = service.http.mounted?.routes.find(({ spec }) => spec.path === `${BASE}/report`);
      expect(route?.ready()).to.equal(true);
      expect([...service.jobs.defined.keys()].toSorted()).to.deep.equal([
        'bugs.bulk',
        'bugs.forget',
        'bugs.outbox',
        'bugs.reconcile',
        'bugs.sweep',
      ]);
      const principal = {
        kind: 'token',
        id: 't',
        name: 'ci',
        token_kind: 'master',
        scopes: ['bugtracker:report'],
        project: null,
        source: null,
      } as const;
      await route?.spec.handle({ principal, body: { project: 'shop', title: 'x' } } as never);
    } finally {
      await service.stop();
    }
    expect(told).to.deep.equal(['bug.created']);
  });
});
