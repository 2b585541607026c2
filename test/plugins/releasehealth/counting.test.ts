/** Counting on every engine, by one process and by several (contract 21, release health). */
import { expect } from 'chai';
import { HourCountWriter } from '../../../plugins/releasehealth/counting/hour-count-writer.js';
import { SessionIntakeService } from '../../../plugins/releasehealth/counting/intake.js';
import {
  MAX_NOTES_PER_HOUR,
  SessionDeduplicator,
} from '../../../plugins/releasehealth/counting/session-deduplicator.js';
import { MAX_ENVIRONMENTS, MAX_SERIES, SeriesLimiter } from '../../../plugins/releasehealth/counting/series-limiter.js';
import { ReleaseHealthService } from '../../../plugins/releasehealth/service.js';
import { HEALTH_COLLECTIONS, type HourDoc, type TroubledDoc } from '../../../plugins/releasehealth/model.js';
import { HealthRetention } from '../../../plugins/releasehealth/retention.js';
import { getVersionIdentity } from '../../../lib/versions.js';
import type { SessionEntry, SessionUpdate } from '../../../ports/domain/release-health.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Collection, DocumentStore } from '../../../ports/store/index.js';
import { PluginStores } from '../../support/stores.js';
import { ManualClock } from '../access/fixture.js';

const stores = new PluginStores('releasehealth', HEALTH_COLLECTIONS);
const MINUTE = 60_000;
const DAY = 86_400_000;
const projects = { requireAccepting: async () => ({}) } as unknown as ProjectDirectory;

/** A process over the store. @param writes counts the writes of hours */
function processOn(store: DocumentStore, clock: ManualClock, writes = { n: 0 }, published: readonly string[] = []) {
  const rows = store.collection<HourDoc>(stores.toStoredName('hours'));
  const counted: Pick<Collection<HourDoc>, 'get' | 'change'> = {
    get: (id) => rows.get(id),
    change: (...given) => {
      writes.n++;
      return rows.change(...given);
    },
  };
  const troubled = store.collection<TroubledDoc>(stores.toStoredName('troubled'));
  const outcomes = new SessionDeduplicator(troubled, clock);
  const isPublished = async (_: string, version: string): Promise<boolean> =>
    published.some((one) => getVersionIdentity(one) === getVersionIdentity(version));
  const book = new SeriesLimiter(rows, clock, () => ({
    isPublished,
    listPublishes: async () => [],
    listLatestPublishes: async () => [],
  }));
  const key = Buffer.alloc(32, 7);
  const intake = new SessionIntakeService(projects, book, new HourCountWriter(counted), outcomes, key, clock);
  const take = (entries: readonly SessionEntry[], address = '192.0.2.1', known = true): Promise<void> =>
    intake.record(
      { project: 'shop', version: '1.4.0', environment: 'production', entries },
      { address, intake: known },
    );
  /** Sessions of any version and environment. */
  const reported = (version: string, environment: string, known = true): Promise<void> =>
    intake.record(
      { project: 'shop', version, environment, entries: [totals(1)] },
      { address: '192.0.2.1', intake: known },
    );
  return {
    take,
    told: reported,
    rows,
    troubled,
    figures: new ReleaseHealthService(rows, clock),
    retention: new HealthRetention(rows, troubled, { days: 30 }, clock),
  };
}

const update = (sid: string, more: Partial<SessionUpdate> = {}, user: string | null = null): SessionEntry => ({
  started_at: null,
  user,
  data: { sid, first: false, outcome: 'ok', ...more },
});
const totals = (ok: number, crashed = 0, started_at: string | null = null): SessionEntry => ({
  started_at,
  user: null,
  data: { ok, errored: 0, crashed, abnormal: 0 },
});

for (const engine of stores.all) {
  describe(`releasehealth: counting on ${engine.name}`, function () {
    let store: DocumentStore;
    let close: () => Promise<void>;
    let clock: ManualClock;

    beforeEach(async function () {
      ({ store, close } = await engine.open(() => this.skip()));
      clock = new ManualClock();
    });
    afterEach(() => close?.());

    it('counts a thousand concurrent sessions in a few writes, each once', async () => {
      const writes = { n: 0 };
      const { take, figures } = processOn(store, clock, writes);
      await Promise.all(Array.from({ length: 1_000 }, (_, i) => take([update(`s${i}`, { first: true }, `u${i}`)])));
      const [one] = await figures.listVersions({ project: 'shop', hours: 1 });
      expect(one?.started).to.equal(1_000);
      expect(one?.people).to.be.within(850, 1_150);
      expect(writes.n).to.be.below(20);
    });

    it('sums sessions and crashes by day', async () => {
      const { take, figures } = processOn(store, clock);
      const at = (days: number): string => new Date(clock.now() - days * DAY).toISOString();
      const day = (days: number): string => at(days).slice(0, 10);
      await take([totals(9, 1, at(2)), totals(4, 0, at(2))]);
      await take([totals(5, 0, at(0))]);
      expect(await figures.listDays('shop', 30)).to.deep.equal([
        { day: day(2), started: 14, crashed: 1 },
        { day: day(0), started: 5, crashed: 0 },
      ]);
      expect(await figures.listDays('shop', 1)).to.have.length(1);
    });

    it('always separates published and token-reported versions, for any versions of a public key', async () => {
      const published = ['1.4.0', '1.5.0'];
      const first = processOn(store, clock, undefined, published);
      await first.told('2.0.0-nightly', 'production', false);
      for (let n = 0; n < MAX_SERIES + 50; n++) await first.told(`9.9.${n}`, 'production');
      // Another process finds what this one has stored.
      for (const { told: reported } of [first, processOn(store, clock, undefined, published)])
        for (const version of ['1.4.0', 'v1.5', '2.0.0-nightly', 'invented']) await reported(version, 'production');
      for (let n = 0; n < MAX_ENVIRONMENTS + 50; n++) await first.told('1.4.0', `invented-${n}`);
      clock.forward(3_600_000);
      for (let n = 0; n < MAX_SERIES + 50; n++) await first.told(`8.8.${n}`, 'production');
      await first.told('2.0.0-nightly', 'production');
      const found = await first.figures.listVersions({ project: 'shop', hours: 2 });
      const started = (version: string | null): number | undefined =>
        found.find((one) => one.version === version)?.started;
      expect(started('1.4.0')).to.equal(2 + MAX_ENVIRONMENTS + 50);
      expect(started('1.5')).to.equal(2);
      expect(started('2.0.0-nightly')).to.equal(4);
      expect(started('9.9.0')).to.equal(1);
      expect(started(null)).to.equal(50 + 2 + 50);
      expect(await first.rows.count({ version_key: '1.4' })).to.be.at.most(MAX_ENVIRONMENTS + 2);
    });

    it('loses no session or user in two processes, and counts a duplicate error once', async () => {
      const [a, b] = [processOn(store, clock), processOn(store, clock)];
      const work = Array.from({ length: 40 }, (_, i) => [
        a.take([update(`a${i}`, { first: true }, `u${i}`)]),
        b.take([update(`b${i}`, { first: true }, `v${i % 5}`)]),
        a.take([update(`e${i}`, { outcome: 'errored' })]),
        b.take([update(`e${i}`, { outcome: 'errored' })]),
      ]);
      await Promise.all(work.flat());
      const [one] = await b.figures.listVersions({ project: 'shop', hours: 1 });
      expect(one).to.include({ started: 80, errored: 40, people: 45 });
      await Promise.all([a, b].map(({ take }) => take([update('e1', { outcome: 'crashed' })])));
      expect((await a.figures.listVersions({ project: 'shop', hours: 1 }))[0]).to.include({ errored: 39, crashed: 1 });
    });

    it('starts a window at its minute, and shows the source of its crashes', async () => {
      const { take, figures } = processOn(store, clock);
      const at = (minutes: number): string => new Date(clock.now() - minutes * MINUTE).toISOString();
      await take([totals(10, 1, at(90)), totals(20, 2, at(10)), totals(40, 4, at(5))]);
      expect(await figures.getSessionsSince('shop', '1.4', at(5))).to.deep.equal({
        started: 44,
        crashed: 4,
        crash_addresses: 1,
        crashes_by_token: false,
      });
      expect(await figures.getSessionsSince('shop', '1.4.0', at(60))).to.include({ started: 66, crashed: 6 });
      expect(await figures.getSessionsSince('shop', '1.4.0', at(120))).to.include({ started: 77, crashed: 7 });
      // Others report sessions without a crash: the crashes are one address's word still.
      await take([totals(5)], '198.51.100.7');
      expect(await figures.getSessionsSince('shop', '1.4.0', at(120))).to.include({ started: 82, crash_addresses: 1 });
      await take([totals(0, 1)], '198.51.100.7');
      expect(await figures.getSessionsSince('shop', '1.4.0', at(120))).to.include({
        crash_addresses: 2,
        crashes_by_token: false,
      });
      await take([totals(0, 1)], '203.0.113.9', false);
      expect(await figures.getSessionsSince('shop', '1.4.0', at(120))).to.include({
        crash_addresses: 2,
        crashes_by_token: true,
      });
    });

    it('ignores updates of sessions started long ago, and deletes old counts and notes', async () => {
      const { take, figures, rows, troubled, retention } = processOn(store, clock);
      await take([totals(3, 0, new Date(clock.now() - 6 * DAY).toISOString()), update('x', { outcome: 'crashed' })]);
      expect(await rows.count()).to.equal(1);
      clock.forward(2 * DAY);
      await retention.run(new AbortController().signal);
      expect([await rows.count(), await troubled.count()]).to.deep.equal([1, 0]);
      clock.forward(29 * DAY);
      await retention.run(new AbortController().signal);
      expect(await rows.count()).to.equal(0);
      expect(await figures.listVersions({ project: 'shop', hours: 720 })).to.deep.equal([]);
    });
  });
}

describe('releasehealth: limits of notes', function () {
  it('counts errors beyond the hourly limit once, without a note', async () => {
    const { store, close } = await (stores.embedded[0] as (typeof stores.embedded)[number]).open();
    const { take, figures, troubled } = processOn(store, new ManualClock());
    const many = Array.from({ length: MAX_NOTES_PER_HOUR + 500 }, (_, i) => update(`s${i}`, { outcome: 'errored' }));
    await take(many);
    await take(many.slice(-10));
    await take([update(`s${many.length - 1}`, { outcome: 'crashed' })]);
    await take([update(`s${many.length - 1}`, { outcome: 'crashed' })]);
    expect(await troubled.count()).to.equal(MAX_NOTES_PER_HOUR);
    const [one] = await figures.listVersions({ project: 'shop', hours: 1 });
    expect(one).to.include({ errored: many.length - 1, crashed: 1 });
    await close();
  });
});
