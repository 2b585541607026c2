/**
 * The routes over HTTP: statuses, codes, fields (contract 20, endpoints), and the plugin in a
 * kernel.
 */
import { fakeAccess } from '../../../support/fake-access.js';
import { expect } from 'chai';
import plugin from '../../../../plugins/bugs/plugin.js';
import { buildBugRoutes } from '../../../../plugins/bugs/http/routes.js';
import { definePlugin } from '../../../../kernel/contract/index.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import { bootTestKernel } from '../../../harness.js';
import { NO_LIMITS, TestServer, type Asked } from '../../../adapters/hapi/support.js';
import { memoryFixture, settled, type Fixture } from '../fixture.js';

const REPORT = 'master:bugtracker:report';
const MANAGE = 'master:bugtracker:manage';
const BASE = '/api/bugtracker/v1';

describe('bugs: routes', () => {
  let fixture: Fixture;
  let server: TestServer;
  beforeEach(async () => {
    fixture = await memoryFixture();
    server = await TestServer.create({ routes: buildBugRoutes(fixture) });
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

  it('charges a bulk change as a call per hundred items', async () => {
    server = await TestServer.create(
      { routes: buildBugRoutes(fixture) },
      { limits: { ...NO_LIMITS, bulk_per_minute: 4 } },
    );
    const bulk = (n: number): Promise<Asked> =>
      ask('POST', '/bugs/bulk', MANAGE, {
        ids: Array.from({ length: n }, (_, i) => `alpha-${i + 1}`),
        set: { severity: 'low' },
      });
    expect(seen(await bulk(200))).to.deep.equal([404, 'not_found']);
    expect((await bulk(100)).status).to.equal(404);
    expect(seen(await bulk(200))).to.deep.equal([429, 'rate_limited']);
  });

  it('lists unknown fields in `warnings`', async () => {
    const { id } = await make();
    const path = `/bugs/${id}`;
    const { body } = await ask('PATCH', path, MANAGE, { titel: 'Changed', set: 1 });
    expect(body['warnings']).to.deep.equal(['titel is no field of this call', 'set is no field of this call']);
    const next = await ask('POST', '/bugs?action=next', MANAGE, { agnet: 'x' });
    expect(next.body).to.include.keys('item', 'lease');
    expect(next.body['warnings']).to.deep.equal(['agnet is no field of this call']);
  });

  it('stores the fix build from reports and changes, and rejects invalid ones', async () => {
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

  it('truncates long texts and reports the truncation', async () => {
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
});

describe('bugs: the plugin', () => {
  it('starts in a kernel, accepts a report and emits its event', async () => {
    const reported: string[] = [];
    const projects = definePlugin({
      id: 'projects',
      version: '1.0.0',
      api: 1,
      title: 'Projects',
      provides: ['projects.directory'],
      extensionPoints: ['projects.usage', 'projects.belongings'],
      setup: () => ({
        services: {
          'projects.directory': { requireAccepting: async () => ({}), get: async () => null, list: async () => [] },
        },
        listens: [{ event: 'bug.created', handle: (event) => void reported.push(event.event) }],
      }),
    });
    const service = await bootTestKernel([fakeAccess, projects, plugin]);
    try {
      const route = service.http.mounted?.routes.find(({ spec }) => spec.path === `${BASE}/report`);
      expect(route?.ready()).to.equal(true);
      expect([...service.jobs.defined.keys()].toSorted()).to.deep.equal([
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
    expect(reported).to.deep.equal(['bug.created']);
  });
});
