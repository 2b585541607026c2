/** Mails of other plugins: stored, sent once, and again after temporary failures. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { DataCipher } from '../../../adapters/node/cipher.js';
import { StoredMailQueue, type StoredMail } from '../../../plugins/notifications/mail-queue.js';
import { SendError } from '../../../plugins/notifications/services/sender.js';
import type { OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { fakeCipher } from '../../kit/fakes.js';
import { ManualClock } from '../access/fixture.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('notifications: mails of other plugins', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let sent: string[];
  let failing: Map<string, SendError>;
  let logged: unknown[];

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryStore();
    sent = [];
    failing = new Map();
    logged = [];
  });

  const rows = () => store.collection<StoredMail>('mails');
  const open = (during?: () => Promise<void>): StoredMailQueue =>
    new StoredMailQueue(
      rows(),
      {
        sendMail: async ({ id }) => {
          await during?.();
          const error = failing.get(id) ?? failing.get('*');
          if (error !== undefined) throw error;
          sent.push(id);
        },
      },
      fakeCipher,
      clock,
      {
        warn: (...entry: unknown[]) => void logged.push(entry),
        error: (...entry: unknown[]) => void logged.push(entry),
      },
    );
  const mail = (id: string, more: Partial<OutgoingMail> = {}): OutgoingMail => ({
    id,
    subject_id: 'page',
    recipient_id: `reader-${id}`,
    to: `${id}@example.org`,
    subject: 'News',
    text: 'text',
    html: '<p>text</p>',
    headers: {},
    urgent: false,
    ...more,
  });
  const states = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await rows().find({ limit: 100 })).items.map(({ id, state }) => [id, state]));
  const sendDue = async (mails: StoredMailQueue): Promise<void> => {
    mails.wake();
    await mails.waitUntilIdle();
  };

  it('sends each mail once, urgent mails first, and ignores duplicates', async () => {
    const mails = open();
    await mails.enqueue([mail('a'), mail('b'), mail('c', { urgent: true })]);
    await mails.waitUntilIdle();
    await mails.enqueue([mail('a'), mail('c')]);
    await mails.waitUntilIdle();
    expect(sent).to.deep.equal(['c', 'a', 'b']);
    const { items } = await rows().find({});
    expect(JSON.stringify(items), 'what was sent keeps no address').not.to.include('@');
  });

  it('retries after temporary failures for up to 24 hours', async () => {
    const mails = open();
    failing.set('a', new SendError('SMTP: 451 a@example.org try again', false));
    await mails.enqueue([mail('a'), mail('b')]);
    await mails.waitUntilIdle();
    expect(await states()).to.deep.equal({ a: 'waiting', b: 'sent' });
    clock.forward(30_000);
    failing.clear();
    await sendDue(mails);
    expect(sent, 'not before its time').to.deep.equal(['b']);
    clock.forward(30_000);
    await sendDue(mails);
    expect(sent).to.deep.equal(['b', 'a']);
    failing.set('c', new SendError('SMTP: 451', false));
    await mails.enqueue([mail('c')]);
    await mails.waitUntilIdle();
    for (let i = 0; i < 26; i++) {
      clock.forward(HOUR);
      await sendDue(mails);
    }
    expect((await states())['c']).to.equal('failed');
    expect(JSON.stringify(logged), 'no address in the log').not.to.include('@');
  });

  it('drops a mail with a rejected recipient, and holds all while the server is unavailable', async () => {
    const mails = open();
    failing.set('a', new SendError('SMTP: 550', true));
    await mails.enqueue([mail('a')]);
    await mails.waitUntilIdle();
    expect(await states()).to.deep.equal({ a: 'failed' });
    failing.clear();
    failing.set('*', new SendError('SMTP: 535 login', true, { server: true }));
    await mails.enqueue([mail('b'), mail('c')]);
    await mails.waitUntilIdle();
    expect(logged, 'the second one is not tried').to.have.length(2);
    failing.clear();
    clock.forward(2 * MINUTE);
    await sendDue(mails);
    expect(sent).to.have.members(['b', 'c']);
  });

  it('resends mails of a process that ended, and only once with two sending processes', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = open(() => held);
    await first.enqueue([mail('a')]);
    const second = open();
    await sendDue(second);
    expect(sent, 'the first one has it').to.deep.equal([]);
    clock.forward(3 * MINUTE);
    await sendDue(second);
    expect(sent, 'its lease has ended').to.deep.equal(['a']);
    expect(await states()).to.deep.equal({ a: 'sent' });
    release();
    await first.waitUntilIdle();
  });

  it('deletes unsent mails by subject or recipient, and removes ids after two days', async () => {
    failing.set('*', new SendError('SMTP: 421', false, { server: true }));
    const mails = open();
    await mails.enqueue([mail('a'), mail('b', { subject_id: 'other' }), mail('c', { subject_id: 'other' })]);
    await mails.waitUntilIdle();
    await mails.drop({ subject_id: 'page' });
    await mails.drop({ recipient_id: 'reader-b' });
    expect(Object.keys(await states())).to.deep.equal(['c']);
    failing.clear();
    clock.forward(2 * MINUTE);
    await sendDue(mails);
    clock.forward(47 * HOUR);
    await mails.removeExpired();
    expect(Object.keys(await states())).to.deep.equal(['c']);
    clock.forward(2 * HOUR);
    await mails.removeExpired();
    expect(await states()).to.deep.equal({});
  });

  it('stores a waiting mail encrypted, and sends its text', async () => {
    const texts: string[] = [];
    const cipher = new DataCipher(randomBytes(32).toString('hex'));
    const sender = { sendMail: async ({ text }: { text: string }) => void texts.push(text) };
    const create = (key: DataCipher, isReachable: boolean): StoredMailQueue =>
      new StoredMailQueue(rows(), isReachable ? sender : null, key, clock, { warn: () => {}, error: () => {} });
    await create(cipher, false).enqueue([mail('a', { text: 'ABCDE-FGHIJ' }), mail('b', { text: 'ABCDE-FGHIJ' })]);
    const stored = JSON.stringify((await rows().find({ limit: 10 })).items);
    expect(stored).not.to.match(/ABCDE|example\.org/);
    await sendDue(create(cipher, true));
    expect(texts).to.deep.equal(['ABCDE-FGHIJ', 'ABCDE-FGHIJ']);
  });

  it('fails a mail that another data key encrypted', async () => {
    const foreign = new DataCipher(randomBytes(32).toString('hex'));
    await new StoredMailQueue(rows(), null, foreign, clock, { warn: () => {}, error: () => {} }).enqueue([mail('a')]);
    await sendDue(
      new StoredMailQueue(
        rows(),
        { sendMail: async () => {} },
        new DataCipher(randomBytes(32).toString('hex')),
        clock,
        {
          warn: () => {},
          error: () => {},
        },
      ),
    );
    expect(await states()).to.deep.equal({ a: 'failed' });
  });

  it('reports that no server is configured, and stores the mails', async () => {
    const mails = new StoredMailQueue(rows(), null, fakeCipher, clock, { warn: () => {}, error: () => {} });
    expect(mails.isConfigured).to.equal(false);
    await mails.enqueue([mail('a')]);
    expect(await states()).to.deep.equal({ a: 'waiting' });
    const later = open();
    await sendDue(later);
    expect(sent).to.deep.equal(['a']);
  });
});
