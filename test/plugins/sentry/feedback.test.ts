/** Feedback of users: a comment on the item of its event, or an item of its own (contract 21, Sentry SDK intake). */
import { expect } from 'chai';
import type { Loose } from '../../adapters/hapi/support.js';
import { ENVELOPE, event, newId, Fixture } from './fixture.js';

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

describe('sentry intake: feedback of users', () => {
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

  it('is added once, however often it is sent', async () => {
    const id = newId();
    await fixture.post(ENVELOPE, lines(['event', { ...event(), event_id: id }]));
    const said = lines(['feedback', feedback(newId(), id)]);
    for (let i = 0; i < 3; i++) {
      expect((await fixture.post(ENVELOPE, said)).status).to.equal(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await comments()).to.have.length(1);
  });

  it('is an item of its own without an event, or with one that is not known', async () => {
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null)]));
    await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), newId(), { message: 'No way to pay' })]));
    const titles = (await fixture.items()).map((item) => item['title']);
    expect(titles).to.have.members(['UserFeedback: The cart is empty!', 'UserFeedback: No way to pay']);
  });

  it('before its event is an item until that comes, then a comment on its item', async () => {
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
    expect(about).to.include({ duplicate_of: error?.['id'], title: 'UserFeedback: The cart is empty!' });
    const path = `/api/bugtracker/v1/bugs/${error?.['ref'] as unknown as string}/comments`;
    const answer = await fixture.server.ask('GET', path, { bearer: 'master:bugtracker:read' });
    const bodies = (answer.body['items'] as unknown as Loose[]).map((comment) => comment['body']);
    expect(bodies).to.deep.equal(['Jane <jane@example.org>\nThe cart is empty!']);
  });

  it('of another user in the same words is not counted by the first one’s event', async () => {
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

  it('holds no secrets, and reaches no item by a client_ref of a token', async () => {
    await fixture.server.ask('POST', '/api/bugtracker/v1/report', {
      bearer: 'master:bugtracker:report',
      json: { project: 'shop', title: 'Internal', client_ref: 'aaaabbbbccccddddaaaabbbbccccdddd' },
    });
    const said = feedback(newId(), 'aaaabbbbccccddddaaaabbbbccccdddd', { message: 'my password=hunter2' });
    await fixture.post(ENVELOPE, lines(['feedback', said]));
    const items = await fixture.items();
    expect(items.map((item) => item['title'])).to.have.members(['Internal', 'UserFeedback: my password=[scrubbed]']);
  });

  it('says nothing where it is empty', async () => {
    const answer = await fixture.post(ENVELOPE, lines(['feedback', feedback(newId(), null, { message: ' ' })]));
    expect(answer.status).to.equal(200);
    expect(await fixture.items()).to.deep.equal([]);
  });
});
