/** Reminders while a monitor is down, and damping of monitors that flap; per channel. */
import { expect } from 'chai';
import type { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { ChannelFixture, MINUTE, sendDue } from './fixture.js';

describe('notifications: reminders and damping', () => {
  let f: ChannelFixture;
  let dispatcher: NotificationDispatcher;
  beforeEach(() => {
    f = new ChannelFixture();
    dispatcher = f.dispatcher();
  });

  const pass = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) {
      f.clock.advance(MINUTE);
      await f.reminders.enqueueDue();
      await sendDue(dispatcher);
    }
  };
  const subjects = (): string[] => f.sent.map(({ subject }) => subject);
  const goDown = async (alarm: string): Promise<void> => {
    await f.queue.enqueueEvent(f.monitor('monitor.down', alarm));
    await sendDue(dispatcher);
  };
  const recover = async (alarm: string): Promise<void> => {
    await f.queue.enqueueEvent(f.monitor('monitor.recovered', alarm));
    await sendDue(dispatcher);
  };

  it('reminds every repeat_minutes until the monitor recovers', async () => {
    await f.channel({ repeat_minutes: 30 });
    await f.channel({ name: 'without', target: 'x@example.org' });
    await goDown('a-1');
    expect(f.sent).to.have.length(2);
    await pass(95);
    expect(subjects().slice(2)).to.deep.equal(Array(3).fill('Reminder: web-1 is down'));
    await recover('a-1');
    const before = f.sent.length;
    await pass(65);
    expect(f.sent).to.have.length(before);
  });

  it('stops reminders on acknowledgement, and resumes when the alarm is handed back', async () => {
    await f.channel({ repeat_minutes: 10 });
    await goDown('a-1');
    const word = { id: 'i:mia', timestamp: f.clock.iso(), alarm_id: 'a-1', source: 'web-1', by: 'mia' };
    await f.queue.enqueueAcknowledgement(word);
    await pass(60);
    expect(subjects()).to.not.include('Reminder: web-1 is down');
    await f.queue.enqueueAcknowledgement({ ...word, id: 'i:', by: null });
    await pass(11);
    expect(subjects()).to.include('Reminder: web-1 is down');
  });

  it('sends no reminder for an alarm that is silenced or has ended', async () => {
    await f.channel({ repeat_minutes: 10 });
    await goDown('a-1');
    f.silenced.add('alarm:a-1');
    await pass(30);
    expect(subjects()).to.deep.equal(['web-1 is down']);
  });

  it('delays an alarm within flap_minutes of another until it has lasted that long', async () => {
    await f.channel({ flap_minutes: 10 });
    await goDown('a-1');
    await pass(1);
    await recover('a-1');
    await pass(1);
    await goDown('a-2');
    expect(subjects()).to.deep.equal(['web-1 is down', 'web-1 recovered']);
    await pass(9);
    expect(f.sent).to.have.length(2);
    await pass(1);
    expect(f.sent[2]?.lines[0]?.text).to.include('It went down 2 times within 10 min.');
    await recover('a-2');
    expect(subjects().slice(2)).to.deep.equal(['web-1 is down', 'web-1 recovered']);
  });

  it('drops a held alarm when it recovers, and reports once that the monitor is flapping', async () => {
    await f.channel({ flap_minutes: 10 });
    for (let n = 0; n < 8; n++) {
      await goDown(`a-${n}`);
      f.clock.advance(20_000);
      await recover(`a-${n}`);
      f.clock.advance(20_000);
    }
    await pass(30);
    expect(subjects()).to.deep.equal(['web-1 is down', 'web-1 recovered', 'web-1 is flapping', 'web-1 recovered']);
    expect((await f.states()).filter((state) => state === 'damped')).to.have.length(6);
  });

  it('sends an alarm immediately when the previous alarm is long past', async () => {
    await f.channel({ flap_minutes: 10 });
    await goDown('a-1');
    await recover('a-1');
    await pass(11);
    await goDown('a-2');
    expect(subjects().at(-1)).to.equal('web-1 is down');
  });
});
