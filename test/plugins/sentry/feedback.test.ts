/**
 * Feedback of users: a comment on the item of its event, else a bug (contract 21, Beyond the
 * specification).
 */
import { expect } from 'chai';
import type { Loose } from '../../adapters/hapi/support.js';
import { ENVELOPE, event, newId, Fixture, STORE } from './fixture.js';

const lines = (...items: [type: string, payload: object][]): string =>
  ['{}', ...items.map(([type, payload]) => `{"type":"${type}"}\n${JSON.stringify(payload)}`)].join('\n');

const feedback = (event_id: string, about: string | null, fields: object = {}): object => ({
  event_id,
  type: 'feedback',
  environment: 'production',
  release: 'shop@1.4.2',
  contexts: {
    feedback: {
      message: 'The cart is empty!',
      name: 'Jane',
      contact_email: 'jane@example.org',
      associated_event_id: about,
      ...fields,
    },
  },
});

describe('sentry intake: user feedback', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
  });
  afterEach(() => fixture.stop());

  const comments = async (): Promise<Loose[]> => {
    const [item] = await fixture.items();
    const path = `/api/bugtracker/v1/bugs/${item?.['ref'] as unknown as string}/comments`;
    const answer = await fixture.server.ask('GET', path, { bearer: 'master:bugtracker:read' });
    return answer.body['items'] as unknown as Loose[];
  };

  it('becomes a comment on the item of its event, in the same envelope or later', async () => {
    const [a, b] = [newId(), newId()];
    const sent = lines(
      ['user_report', { event_id: a, name: 'Bob', email: 'bob@example.org', comments: 'It broke.' }],
      ['event', { ...event(), event_id: a }],
    );
    expect((await fixture.post(ENVELOPE, sent)).status).to.equal(200);
    expect((await fixture.post(ENVELOPE, lines(['feedback', feedback(b, a)]))).status).to.equal(200);
    expect(await fixture.items()).to.have.length(1);
    const bodies = (await comments()).map((comment) => comment['body']);
    expect(bodies).to.have.members(['Bob <bob@example.org>\nIt broke.', 'Jane <jane@example.org>\nThe cart is empty!']);
    expect((await comments())[0]).to.include({ author: 'user feedback' });
  });

  it('is added once, for any number of sends', async () => {
    const id = newId();
    await fixture.post(ENVELOPE, lines(['event', { ...event(), event_id: id }]));
    const said = lines(['feedback', feedback(newId(), id)]);
    for (let i = 0; i < 3; i++) {
      expect((await fixture.post(ENVELOPE, said)).status).to.equal(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await comments()).to.have.length(1);
  });

  it('becomes a bug without an event, or with an event that does not exist', async () => {
    const id = newId();
    await fixture.post(ENVELOPE, lines(['feedback', feedback(id, null, { url: 'https://shop.example/cart' })]));
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), newId(), { message: 'No way\nto pay' })]));
    await fixture.post(ENVELOPE, lines(['user_report', { event_id: newId(), comments: 'It broke.' }]));
    const items = await fixture.items();
    expect(items.map((item) => item['title'])).to.have.members(['The cart is empty!', 'No way', 'It broke.']);
    for (const item of items) expect(item).to.include({ type: 'bug', source: 'app', status: 'open', hit_count: 1 });
    const ref = items.find((item) => item['client_ref'] === (id as never))?.['ref'] as unknown as string;
    const { body } = await fixture.server.ask('GET', `/api/bugtracker/v1/bugs/${ref}`, {
      bearer: 'master:bugtracker:read',
    });
    const item = body['item'] as unknown as Loose;
    expect(item).to.include({
      description: 'Jane <jane@example.org>\nhttps://shop.example/cart\nThe cart is empty!',
      environment: 'production',
      app_version: '1.4.2',
      severity: 'medium',
      exception_class: null,
      error_level: null,
      error_message: null,
    });
    expect(item['untrusted_fields']).to.include.members(['title', 'description', 'client_ref', 'app_version']);
    const [occurrence] = body['occurrences'] as unknown as Loose[];
    expect(occurrence?.['context']).to.include({
      name: 'Jane',
      email: 'jane@example.org',
      message: 'The cart is empty!',
    });
  });

  it('is accepted as a plain event too', async () => {
    const [a, b] = [newId(), newId()];
    const answer = await fixture.post(STORE, JSON.stringify(feedback(a, b)));
    expect(answer).to.deep.include({ status: 200, body: { id: a } });
    await fixture.post(STORE, JSON.stringify({ ...event(), event_id: b }));
    expect((await fixture.items()).map((item) => [item['type'], item['status']])).to.have.deep.members([
      ['bug', 'duplicate'],
      ['error', 'open'],
    ]);
  });

  it('creates a bug once for repeated sends, and another for the same text of another user', async () => {
    const said = lines(['feedback', feedback(newId(), null)]);
    for (let i = 0; i < 3; i++) await fixture.post(ENVELOPE, said);
    expect((await fixture.items()).map((item) => item['hit_count'])).to.deep.equal([1]);
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null)]));
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null, { name: 'Bob' })]));
    expect((await fixture.items()).map((item) => item['hit_count'])).to.have.members([1, 2]);
  });

  it('is never counted in a bug that a user created with the same text', async () => {
    await fixture.server.ask('POST', '/api/bugtracker/v1/report', {
      bearer: 'master:bugtracker:report',
      json: { project: 'shop', title: 'The cart is empty!' },
    });
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null)]));
    expect((await fixture.items()).map((item) => [item['source'], item['hit_count']])).to.have.deep.members([
      ['agent', 1],
      ['app', 1],
    ]);
  });

  it('becomes a bug until its event arrives, then a comment on its item', async () => {
    const [a, b, c] = [newId(), newId(), newId()];
    await fixture.post(ENVELOPE, lines(['feedback', feedback(b, a)]));
    await fixture.post(ENVELOPE, lines(['user_report', { event_id: c, comments: 'The cart is empty!' }]));
    expect(await fixture.items()).to.have.length(2);
    await fixture.post(ENVELOPE, lines(['event', { ...event(), event_id: a }]));
    const items = await fixture.items();
    const error = items.find((item) => item['exception_class'] === ('CartError' as never));
    const about = items.find((item) => item['status'] === ('duplicate' as never));
    expect(items).to.have.length(3);
    expect(error).to.include({ hit_count: 1, status: 'open' });
    expect(about).to.include({ duplicate_of: error?.['id'], title: 'The cart is empty!', type: 'bug' });
    const path = `/api/bugtracker/v1/bugs/${error?.['ref'] as unknown as string}/comments`;
    const answer = await fixture.server.ask('GET', path, { bearer: 'master:bugtracker:read' });
    const bodies = (answer.body['items'] as unknown as Loose[]).map((comment) => comment['body']);
    expect(bodies).to.deep.equal(['Jane <jane@example.org>\nThe cart is empty!']);
  });

  it('is not counted for another user’s event with the same text', async () => {
    const [a, b] = [newId(), newId()];
    for (const about of [a, b]) await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), about)]));
    await fixture.post(ENVELOPE, lines(['event', { ...event(), event_id: a }]));
    expect((await fixture.items()).map((item) => item['status'])).to.have.members(['open', 'open', 'duplicate']);
    await fixture.post(ENVELOPE, lines(['event', { ...event(), event_id: b }]));
    const items = await fixture.items();
    expect(items.map((item) => [item['status'], item['hit_count']])).to.have.deep.members([
      ['open', 2],
      ['duplicate', 1],
      ['duplicate', 1],
    ]);
  });

  it('contains no secrets, and never matches the client_ref of a token', async () => {
    await fixture.server.ask('POST', '/api/bugtracker/v1/report', {
      bearer: 'master:bugtracker:report',
      json: { project: 'shop', title: 'Internal', client_ref: 'aaaabbbbccccddddaaaabbbbccccdddd' },
    });
    const said = feedback(newId(), 'aaaabbbbccccddddaaaabbbbccccdddd', { message: 'my password=hunter2' });
    await fixture.post(ENVELOPE, lines(['feedback', said]));
    const items = await fixture.items();
    expect(items.map((item) => item['title'])).to.have.members(['Internal', 'my password=[scrubbed]']);
  });

  it('is ignored when it is empty', async () => {
    const answer = await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null, { message: ' ' })]));
    expect(answer.status).to.equal(200);
    expect(await fixture.items()).to.deep.equal([]);
  });
});
