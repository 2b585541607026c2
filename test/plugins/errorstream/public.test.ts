/**
 * What an intake key is told: nothing but the name of the item and its own report (contract 21,
 * intake).
 */
import { expect } from 'chai';
import type { ItemDoc } from '../../../plugins/bugs/item/model.js';
import type { Loose } from '../../adapters/hapi/support.js';
import { error, Fixture, TOKEN } from './fixture.js';

const KEY = 'intake:alpha';
const AGENT = 'master:bugtracker:report bugtracker:manage';
const TOLD = ['created', 'id', 'ignored', 'overflow', 'ref', 'sampled', 'status', 'title', 'truncated'];

describe('errorstream: version faults from intake keys', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create({}, { trusted_proxies: ['127.0.0.0/8'] });
  });
  after(() => fixture.stop());

  it('store the network of each report, alone and in a list', async () => {
    const from = (address: string, json: unknown) =>
      fixture.post(json, { bearer: KEY, headers: { 'x-forwarded-for': address } });
    const items = fixture.service.store.collection<ItemDoc>('bugs_items');
    const stored = async (id: unknown): Promise<ItemDoc | null> => items.get(String(id));
    const report = error({ exception_class: 'Fresh', app_version: '2.0' });
    const { id } = (await from('192.0.2.1', report)).body;
    await from('192.0.2.1', [report, report]);
    expect((await stored(id))?.public_fault?.n).to.equal(1);
    await from('198.51.100.2', [report]);
    expect(await stored(id)).to.include({ fault_key: 'alpha 2', hit_count: 4 });
    expect((await stored(id))?.public_fault?.n).to.equal(2);
  });
});

describe('errorstream: responses to an intake key', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await Fixture.create();
  });
  after(() => fixture.stop());

  const send = (json: unknown) => fixture.post(json, { bearer: KEY });

  it('contain only what a public key may read', async () => {
    for (const status of [201, 200]) {
      const answer = await send(error());
      expect(answer.status).to.equal(status);
      expect(Object.keys(answer.body).toSorted()).to.deep.equal(TOLD);
      expect(answer.body).to.include({ created: status === 201, overflow: false, sampled: true, ignored: false });
    }
  });

  it('contain only those fields in each element of a list too', async () => {
    const answer = await send([error(), error({ exception_class: 'Other' }), { project: 'alpha' }]);
    const [a, b, c] = answer.body['results'] as unknown as Loose[];
    for (const one of [a, b])
      expect(Object.keys(one ?? {}).toSorted()).to.deep.equal(TOLD.filter((k) => k !== 'status'));
    expect(Object.keys(c ?? {})).to.deep.equal(['error']);
  });

  it('return the title of the report, for any title of the item', async () => {
    const agent = await fixture.post(error({ exception_class: 'Known', error_message: 'seen 1' }));
    await fixture.server.ask('PATCH', `/api/bugtracker/v1/bugs/${agent.body['id'] as unknown as string}`, {
      bearer: AGENT,
      json: { title: 'Secret: acquisition of Initech', severity: 'low' },
    });
    const answer = await send(error({ exception_class: 'Known', error_message: 'seen 1' }));
    expect(answer.body).to.include({ id: agent.body['id'], created: false, title: 'Known: seen 1' });
    expect(JSON.stringify(answer.body)).not.to.include('Initech');
  });

  it('reveal nothing of an internal item with the same client_ref, and do not block its creation', async () => {
    const ticket = { client_ref: 'TICKET-1' };
    const bug = await fixture.server.ask('POST', '/api/bugtracker/v1/report', {
      bearer: TOKEN,
      json: { project: 'alpha', title: 'Unannounced feature broken', ...ticket },
    });
    const probe = await send(error({ exception_class: 'Probe', ...ticket }));
    expect(probe.status).to.equal(201);
    expect(probe.body['id']).not.to.equal(bug.body['id']);
    await send(error({ exception_class: 'Squatter', client_ref: 'TICKET-2' }));
    const late = await fixture.server.ask('POST', '/api/bugtracker/v1/report', {
      bearer: TOKEN,
      json: { project: 'alpha', title: 'The real one', client_ref: 'TICKET-2' },
    });
    expect(late.status).to.equal(201);
    expect(late.body).to.include({ created: true, deduplicated: false });
  });

  it('are complete for a token', async () => {
    const answer = await fixture.post(error());
    expect(answer.body).to.include.keys('dedup_key', 'severity', 'item_status', 'hit_count');
    expect(answer.body).not.to.have.property('overflow');
  });

  it('contain only details of the report in errors', async () => {
    const answer = await send(error({ error_level: 'loud' }));
    expect(answer.status).to.equal(422);
    expect(Object.keys(answer.body['error'] as object).toSorted()).to.deep.equal([
      'code',
      'fields',
      'message',
      'request_id',
    ]);
  });
});

describe('errorstream: flooding by an intake key', () => {
  it('returns overflow beyond its limit of new groups, and still counts existing groups', async () => {
    const fixture = await Fixture.create({ app: { limits: { new_groups_per_hour: 2 } } });
    const send = async (exception_class: string) => fixture.post(error({ exception_class }), { bearer: KEY });
    try {
      const overflows = [];
      for (const name of ['A', 'B', 'C', 'D', 'A']) overflows.push((await send(name)).body['overflow']);
      expect(overflows).to.deep.equal([false, false, true, true, false]);
      expect(await fixture.items()).to.equal(3);
    } finally {
      await fixture.stop();
    }
  });
});
