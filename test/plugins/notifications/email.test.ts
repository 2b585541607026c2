/**
 * Mail by a real SMTP server in this process that answers as it is told: temporary and permanent
 * answers of each command.
 */
import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { EmailSender } from '../../../plugins/notifications/services/email-sender.js';
import { ChannelFixture, MINUTE, sendDue } from './fixture.js';

const answer = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

describe('notifications: mail', () => {
  const faults: { rcpt?: Record<string, Error>; auth?: Error; from?: Error; data?: Error } = {};
  const accepted: string[] = [];
  let server: SMTPServer;
  let f: ChannelFixture;
  let dispatcher: NotificationDispatcher;

  before(async () => {
    server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      logger: false,
      onAuth: (_auth, _session, done) => done(faults.auth ?? null, { user: 'aos' }),
      onMailFrom: (_address, _session, done) => done(faults.from ?? null),
      onRcptTo: ({ address }, _session, done) => done(faults.rcpt?.[address] ?? null),
      onData: (stream, session, done) => {
        stream.on('end', () => {
          if (faults.data === undefined) accepted.push(...session.envelope.rcptTo.map(({ address }) => address));
          done(faults.data ?? null);
        });
        stream.resume();
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  beforeEach(async () => {
    for (const name of Object.keys(faults) as (keyof typeof faults)[]) delete faults[name];
    accepted.length = 0;
    f = new ChannelFixture();
    f.senders = {
      email: new EmailSender({
        smtp_host: '127.0.0.1',
        smtp_port: (server.server.address() as AddressInfo).port,
        smtp_security: 'none',
        smtp_user: 'aos',
        smtp_password: 'secret',
        smtp_from: 'AOS <aos@example.org>',
      }),
    };
    dispatcher = f.dispatcher();
    await f.channel({ target: 'a@example.org, b@example.org' });
    await f.queue.enqueueEvent(f.bug());
  });

  const later = async (): Promise<void> => {
    for (const name of Object.keys(faults) as (keyof typeof faults)[]) delete faults[name];
    f.clock.advance(MINUTE);
    await sendDue(dispatcher);
  };

  for (const [what, fault] of [
    ['RCPT 451', { rcpt: { 'a@example.org': answer(451, '4.7.1 try again'), 'b@example.org': answer(451, '4.7.1') } }],
    ['AUTH 454', { auth: answer(454, '4.7.0 temporary authentication failure') }],
    ['MAIL 421', { from: answer(421, '4.3.2 shutting down') }],
    ['DATA 452', { data: answer(452, '4.3.1 insufficient storage') }],
  ] as [string, typeof faults][])
    it(`is retried after ${what} (W08)`, async () => {
      Object.assign(faults, fault);
      await sendDue(dispatcher);
      expect([accepted, await f.states()]).to.deep.equal([[], ['waiting']]);
      await later();
      expect([accepted, await f.states()]).to.deep.equal([['a@example.org', 'b@example.org'], ['sent']]);
    });

  for (const [what, fault] of [
    ['RCPT 550', { rcpt: { 'a@example.org': answer(550, '5.1.1'), 'b@example.org': answer(550, '5.1.1') } }],
    ['DATA 554', { data: answer(554, '5.6.0 rejected') }],
  ] as [string, typeof faults][])
    it(`fails permanently after ${what}`, async () => {
      Object.assign(faults, fault);
      await sendDue(dispatcher);
      await later();
      expect([accepted, await f.states()]).to.deep.equal([[], ['failed']]);
    });

  it('is resent only to the deferred recipient (W09)', async () => {
    faults.rcpt = { 'b@example.org': answer(450, '4.2.0 greylisted') };
    await sendDue(dispatcher);
    expect(accepted).to.deep.equal(['a@example.org']);
    expect((await f.notes.find()).items[0]?.error).to.match(/^b@example\.org: .*450 4\.2\.0 greylisted/);
    await later();
    expect([accepted, await f.states()]).to.deep.equal([['a@example.org', 'b@example.org'], ['sent']]);
  });
});
