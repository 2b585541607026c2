/** The plugin in the service, in memory: nothing listens, no time passes, every test takes milliseconds. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { BUG_CREATED } from 'aos/domain';
import { boot, contextFor } from 'aos/testing';
import { Notes } from './notes.js';
import plugin from './plugin.js';

const READ = { scopes: ['sample:read'] };
const WRITE = { scopes: ['sample:write'] };
let service;

before(async () => {
  service = await boot([plugin], { config: { sample: { keep_days: 7 } } });
});
after(() => service.stop());
beforeEach(() => service.collection('sample_notes').remove({}));

test('adds a note and lists it', async () => {
  const added = await service.request('POST', '/api/sample/v1/notes', { as: WRITE, body: { text: ' Hello ' } });
  assert.equal(added.status, 201);
  const { body } = await service.request('GET', '/api/sample/v1/notes', { as: READ });
  assert.deepEqual(
    body.items.map(({ text, source }) => [text, source]),
    [['Hello', 'person']],
  );
});

test('rejects a note without words, and users who may not write', async () => {
  const empty = await service.request('POST', '/api/sample/v1/notes', { as: WRITE, body: { text: ' ' } });
  assert.deepEqual([empty.status, empty.code, empty.fields], [422, 'sample_empty', { text: 'Enter a text.' }]);
  const reader = await service.request('POST', '/api/sample/v1/notes', { as: READ, body: { text: 'Hello' } });
  assert.equal(reader.status, 403);
});

test('the page shows the notes and takes the form', async () => {
  const sent = await service.request('POST', '/sample', { as: 'member', form: { text: 'From <b>the page' } });
  assert.deepEqual([sent.status, sent.location], [303, '/sample']);
  assert.match((await service.request('GET', '/sample', { as: 'member' })).text, /From &lt;b&gt;the page/);
  const again = await service.request('POST', '/sample', { as: 'member', form: { text: '' } });
  assert.equal(again.status, 422);
  assert.match(again.text, /The note has no text/);
});

test('notes each new item of the tracker once', async () => {
  const bug = {
    id: 'b1',
    ref: 'shop-1',
    type: 'bug',
    title: 'It falls over',
    severity: 'high',
    client_ref: null,
    regression: false,
    item_status: 'open',
    people: null,
  };
  await service.emit(BUG_CREATED, bug, { id: 'evt_1' });
  await service.emit(BUG_CREATED, bug, { id: 'evt_1' });
  const { json } = await service.command('sample list');
  assert.deepEqual(
    json.items.map(({ text }) => text),
    ['shop-1: It falls over'],
  );
});

test('the job forgets what is older than its configuration says', async () => {
  await service.request('POST', '/api/sample/v1/notes', { as: WRITE, body: { text: 'Old' } });
  service.clock.advance(8 * 86_400_000);
  await service.runJob('sample.forget');
  assert.equal((await service.health())['sample']?.['notes'], 0);
});

test('one class alone, without the service', async () => {
  const ctx = await contextFor(plugin);
  const notes = new Notes(ctx.collection('notes'), ctx.clock, ctx.ids);
  await notes.add('Alone');
  assert.equal(await notes.count(), 1);
  assert.equal(ctx.config.keep_days, 30);
});
