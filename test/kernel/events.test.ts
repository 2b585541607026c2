import { expect } from 'chai';
import { InProcessEvents } from '../../kernel/events.js';
import type { DomainEvent } from '../../ports/events.js';
import { RecordingLog } from '../kit/fakes.js';

const event = (name = 'bug.created'): DomainEvent => ({
  id: 'evt_1',
  event: name,
  timestamp: '2026-11-20T08:15:30.123Z',
  project_slug: null,
  data: {},
});
const fails = (): never => {
  throw new Error('no');
};

describe('kernel/events', () => {
  it('notifies listeners of the event and listeners of all events', async () => {
    const bus = new InProcessEvents(new RecordingLog());
    const heard: string[] = [];
    bus.on('a', { event: 'bug.created', handle: () => void heard.push('a') });
    bus.on('b', { event: '*', handle: async () => void heard.push('b') });
    bus.on('c', { event: 'bug.resolved', handle: () => void heard.push('c') });
    expect(await bus.emit(event())).to.equal(true);
    expect(heard).to.have.members(['a', 'b']);
    expect(await bus.emit(event('nobody.listens'))).to.equal(true);
  });

  it('returns false only when a durable listener failed, and still notifies the others', async () => {
    const log = new RecordingLog();
    const bus = new InProcessEvents(log);
    const heard: string[] = [];
    bus.on('a', { event: '*', handle: fails });
    bus.on('b', { event: '*', durable: true, handle: () => void heard.push('b') });
    expect(await bus.emit(event())).to.equal(true);
    bus.on('c', { event: '*', durable: true, handle: () => Promise.reject(new Error('no')) });
    bus.on('d', { event: '*', handle: () => void heard.push('d') });
    expect(await bus.emit(event())).to.equal(false);
    expect(heard).to.deep.equal(['b', 'b', 'd']);
    expect(log.lines.map(({ data }) => data['plugin'])).to.deep.equal(['a', 'a', 'c']);
  });

  it('counts a listener that hangs as failed', async () => {
    const bus = new InProcessEvents(new RecordingLog(), 20);
    bus.on('a', { event: '*', durable: true, handle: () => new Promise(() => undefined) });
    expect(await bus.emit(event())).to.equal(false);
  });

  it('retains the event for a durable listener that is not ready', async () => {
    const bus = new InProcessEvents(new RecordingLog());
    let ready = false;
    const heard: string[] = [];
    bus.on('a', { event: '*', durable: true, handle: () => void heard.push('a') }, () => ready);
    bus.on('b', { event: '*', handle: () => void heard.push('b') }, () => ready);
    expect(await bus.emit(event())).to.equal(false);
    ready = true;
    expect(await bus.emit(event())).to.equal(true);
    expect(heard).to.deep.equal(['a', 'b']);
  });

  it('calls a listener object with its `this`', async () => {
    const bus = new InProcessEvents(new RecordingLog());
    const listener = {
      event: '*',
      heard: 0,
      handle() {
        this.heard += 1;
      },
    };
    bus.on('a', listener);
    await bus.emit(event());
    expect(listener.heard).to.equal(1);
  });
});
