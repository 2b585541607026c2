/**
 * The plugin in the service, in memory: nothing listens, no time passes, every test takes
 * milliseconds.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { BUG_CRITICAL, ITEMS } from 'aos/domain';
import { boot, contextFor, stub, type TestService } from 'aos/testing';
import plugin, { type Config } from './plugin.js';
import { HANDOVER, Shifts, type Shift } from './shifts.js';

const WRITE = { scopes: ['oncall:read', 'oncall:write'] };
const HOUR = 3_600_000;
const comments: { item: string; body: string; key: string }[] = [];
let service: TestService;

before(async () => {
  const items = stub(ITEMS, {
    comment: async (item, { body, key }) => {
      comments.push({ item, body, key });
      return { id: 'c1', created: true };
    },
  });
  service = await boot([items, plugin], { app: { timezone: 'Europe/Berlin' } });
});
after(() => service.stop());
beforeEach(async () => {
  await service.collection('oncall_shifts').remove({});
  comments.length = 0;
});

/** A shift from the given hour on, counted from now. */
const add = async (person: string, from: number, hours = 8) => {
  const at = (hour: number): string => new Date(service.clock.now() + hour * HOUR).toISOString();
  const body = { person, starts_at: at(from), ends_at: at(from + hours) };
  return service.request<{ shift: Shift }>('POST', '/api/oncall/v1/shifts', { as: WRITE, body });
};

test('adds shifts and says who is on call', async () => {
  assert.equal((await add('Ada', -1)).status, 201);
  assert.equal((await add('Ben', 7)).status, 201);
  const now = await service.request<{ shift: Shift }>('GET', '/api/oncall/v1/now', { as: WRITE });
  assert.equal(now.body.shift.person, 'Ada');
  const { json } = await service.command('oncall now');
  assert.equal((json as { person: string }).person, 'Ada');
  assert.match(await service.panels(), /<strong>Ada<\/strong>/);
});

test('rejects overlapping shifts, and an end before the start', async () => {
  await add('Ada', 0);
  const overlap = await add('Ben', 4);
  assert.deepEqual([overlap.status, overlap.code, overlap.fields], [409, 'oncall_overlap', { starts_at: 'Is taken.' }]);
  assert.equal((await add('Ben', 20, -2)).code, 'oncall_backwards');
});

test('the page takes local times, shows the shift and removes it', async () => {
  const form = { person: 'Ada', starts_at: '2026-12-24T18:00', ends_at: '2026-12-25T06:00' };
  const sent = await service.request('POST', '/oncall', { as: 'member', form });
  assert.deepEqual([sent.status, sent.location], [303, '/oncall']);
  const [shift] = (await service.collection<Shift>('oncall_shifts').find()).items;
  assert.equal(shift?.starts_at, '2026-12-24T17:00:00.000Z');
  assert.match((await service.request('GET', '/oncall', { as: 'member' })).text, /Ada/);
  const again = await service.request('POST', '/oncall', { as: 'member', form });
  assert.equal(again.status, 409);
  assert.match(again.text, /Ada is on call at that time/);
  await service.request('POST', `/oncall/${shift?.id}/remove`, { as: 'member', form: {} });
  assert.equal(await service.collection('oncall_shifts').count(), 0);
});

test('comments on a critical item who is on call', async () => {
  const { body } = await add('Ada', 0);
  const bug = {
    id: 'b1',
    ref: 'shop-1',
    type: 'bug',
    title: 'The shop is down',
    severity: 'critical',
    client_ref: null,
    regression: false,
    item_status: 'open',
    people: null,
  } as const;
  await service.emit(BUG_CRITICAL, bug);
  assert.deepEqual(comments, [
    { item: 'b1', body: `Ada is on call until ${body.shift.ends_at}.`, key: `critical-${body.shift.id}` },
  ]);
});

test('announces a shift once, when it starts', async () => {
  await add('Ada', 1);
  const announced = (): unknown[] =>
    service.emitted.filter(({ event }) => event === HANDOVER.event).map(({ data }) => data);
  await service.runJob('oncall.handover');
  assert.deepEqual(announced(), []);
  service.clock.advance(HOUR);
  await service.runJob('oncall.handover');
  await service.runJob('oncall.handover');
  assert.deepEqual(announced().length, 1);
});

test('validates shifts without the service', async () => {
  const ctx = await contextFor<Config>(plugin);
  const shifts = new Shifts(ctx.collection('shifts'), ctx.clock, ctx.ids);
  assert.equal(await shifts.now(), null);
  assert.equal(ctx.config.comment, true);
});
