/**
 * Due times are monotonic within a process, whatever its clock does (contract 95, a bad day): one
 * table over all queues.
 */
import { expect } from 'chai';
import { JOBS_COLLECTION } from '../../adapters/agenda/job-document.js';
import { StoreJobRepository } from '../../adapters/agenda/repository.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { RandomIds } from '../../adapters/node/ids.js';
import { Lease, type LeaseRow } from '../../lib/lease.js';
import { DAY_MS, HOUR_MS, toIsoString } from '../../lib/time.js';
import type { Channel } from '../../plugins/notifications/channels/channel.js';
import type { StoredNotification } from '../../plugins/notifications/notes/stored-notification.js';
import { SendTimeCalculator } from '../../plugins/notifications/sending/send-times.js';
import { RetryTimeCalculator } from '../../plugins/webhooks/deliveries/retry-times.js';
import type { WebhookDelivery } from '../../plugins/webhooks/model/delivery.js';
import type { Webhook } from '../../plugins/webhooks/model/webhook.js';
import type { Collection, Doc } from '../../ports/store/index.js';
import { ManualClock } from '../kit/clock.js';
import { RecordingLog } from '../kit/fakes.js';

const WAIT_MS = 10_000;

/** Something that is due in `WAIT_MS`. */
interface Waiting {
  /** Looks, as the process does before it takes what is due. */
  isDue(): Promise<boolean>;
}

const jobs = (store: MemoryStore, clock: ManualClock): StoreJobRepository =>
  new StoreJobRepository({
    store,
    clock,
    ids: new RandomIds(clock),
    log: new RecordingLog(),
    leaseMs: () => WAIT_MS,
    lockMs: WAIT_MS,
    names: () => ['test.job'],
    next: () => toIsoString(clock.now() + DAY_MS),
  });
const takes = (repository: StoreJobRepository): Waiting => ({
  isDue: async () => (await repository.getNextJobToRun('test.job')) !== undefined,
});

async function channelWith(
  store: MemoryStore,
  clock: ManualClock,
  fields: (times: SendTimeCalculator) => Partial<Channel>,
): Promise<{ times: SendTimeCalculator; channels: Collection<Channel> }> {
  const channels = store.collection<Channel>('channels');
  const times = new SendTimeCalculator(store.collection<StoredNotification>('notes'), channels, clock);
  await times.clampFutureTimes();
  const channel = { id: 'c', digest_minutes: 60, quiet: null, next_at: null, lease_by: null, lease_until: null };
  await channels.insert({ ...channel, ...fields(times) } as Channel);
  return { times, channels };
}
const reached =
  <T extends Doc>(
    times: { clampFutureTimes(): Promise<unknown> },
    rows: Collection<T>,
    field: string,
    clock: ManualClock,
  ) =>
  async (): Promise<boolean> => {
    await times.clampFutureTimes();
    return (await rows.count({ [field]: { lte: clock.iso() } })) > 0;
  };

const QUEUES: Readonly<Record<string, (store: MemoryStore, clock: ManualClock) => Promise<Waiting>>> = {
  'a job': async (store, clock) => {
    const repository = jobs(store, clock);
    // A job of another interval: the bound of what a start would find is far away.
    await repository.rows.add('test.job', null, repository.rows.dueIn(WAIT_MS), undefined, 0);
    return takes(repository);
  },
  'a repeating job': async (store, clock) => {
    const repository = jobs(store, clock);
    await repository.rows.schedule('test.job', HOUR_MS, undefined, repository.rows.dueIn(WAIT_MS));
    return takes(repository);
  },
  'the lock of a job': async (store, clock) => {
    const repository = jobs(store, clock);
    await repository.rows.add('test.job', null, repository.rows.dueIn(0), undefined, 0);
    expect(await repository.getNextJobToRun('test.job')).to.not.equal(undefined);
    return takes(repository);
  },
  'a retry of a webhook': async (store, clock) => {
    const deliveries = store.collection<WebhookDelivery>('deliveries');
    const webhooks = store.collection<Webhook>('webhooks');
    const times = new RetryTimeCalculator(webhooks, deliveries, clock);
    await webhooks.insert({ id: 'w' } as Webhook);
    await times.clampFutureTimes();
    await deliveries.insert({
      id: 'd',
      webhook_id: 'w',
      failures: 5,
      next_at: times.getTimeIn(WAIT_MS),
    } as WebhookDelivery);
    return { isDue: reached(times, deliveries, 'next_at', clock) };
  },
  'a retry of a notification': async (store, clock) => {
    const { times } = await channelWith(store, clock, () => ({}));
    const notes = store.collection<StoredNotification>('notes');
    const note = { id: 'n', channel_id: 'c', state: 'waiting', severity: 'warning', attempts: 5 };
    await notes.insert({ ...note, send_at: times.getTimeIn(WAIT_MS) } as StoredNotification);
    return { isDue: reached(times, notes, 'send_at', clock) };
  },
  'the digest of a channel': async (store, clock) => {
    const { times, channels } = await channelWith(store, clock, (own) => ({ next_at: own.getTimeIn(WAIT_MS) }));
    return { isDue: reached(times, channels, 'next_at', clock) };
  },
  'the lease of a channel': async (store, clock) => {
    const { times, channels } = await channelWith(store, clock, (own) => ({
      lease_by: 'x',
      lease_until: own.getTimeIn(WAIT_MS),
    }));
    return { isDue: reached(times, channels, 'lease_until', clock) };
  },
  'a lease': async (store, clock) => {
    const rows = store.collection<LeaseRow & Doc>('leases');
    const ids = new RandomIds(clock);
    const lease = (): Lease =>
      new Lease(rows, {
        id: 'l',
        ttlMs: WAIT_MS,
        expiryMode: 'silence',
        clock,
        uuid: () => ids.uuid(),
        onFault: (error) => expect.fail(String(error)),
      });
    (await lease().acquire())?.stop();
    const waiter = lease();
    expect(await waiter.acquire()).to.equal(null);
    return {
      isDue: async () => {
        const held = await waiter.acquire();
        held?.stop();
        return held !== null;
      },
    };
  },
};

describe('due times of a process whose clock moves backwards', () => {
  for (const [what, wait] of Object.entries(QUEUES))
    for (const [step, ms] of Object.entries({ 'an hour': HOUR_MS, 'a year': 365 * DAY_MS }))
      it(`are preserved by ${what} when the clock moves backwards ${step}`, async () => {
        const store = new MemoryStore();
        await store.ensure([JOBS_COLLECTION]);
        const clock = new ManualClock();
        const waiting = await wait(store, clock);
        clock.advance(4_000);
        clock.set(clock.now() - ms);
        expect(await waiting.isDue(), 'at once').to.equal(false);
        clock.advance(5_900);
        expect(await waiting.isDue(), 'too early').to.equal(false);
        clock.advance(101);
        expect(await waiting.isDue(), 'in time').to.equal(true);
      });

  it('are preserved across several clock jumps', async () => {
    const store = new MemoryStore();
    await store.ensure([JOBS_COLLECTION]);
    const clock = new ManualClock();
    const waiting = await QUEUES['a retry of a webhook']!(store, clock);
    for (const ms of [HOUR_MS, DAY_MS, HOUR_MS]) {
      clock.advance(3_000);
      clock.set(clock.now() - ms);
      expect(await waiting.isDue()).to.equal(false);
    }
    clock.advance(1_001);
    expect(await waiting.isDue()).to.equal(true);
  });
});
