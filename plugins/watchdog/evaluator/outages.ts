/**
 * The service's own outages (contract 30, own outage). `serve` stamps that it is alive; a gap over 60 s is recorded and
 * not counted against monitors. Nor is any time in which it refused heartbeats for want of room: it hears of none then,
 * and gives no sign of life. The credit is computed from the recorded gaps whenever a monitor is judged, so it is given
 * once by itself and nothing has to be written into a hundred thousand monitors after a restart.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import { StoreFull } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';

export const STAMP_INTERVAL_MS = 10_000;
const MIN_GAP_MS = 60_000;
const ALIVE_MARK_ID = 'alive';
/** More than these, the newest, are not looked at. */
const MAX_GAPS = 1_000;

export interface Gap {
  from: number;
  to: number;
}

/** Non-overlapping, oldest first. */
export function mergeGaps(gaps: readonly Gap[]): Gap[] {
  const out: Gap[] = [];
  for (const gap of [...gaps].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && gap.from <= last.to) last.to = Math.max(last.to, gap.to);
    else out.push({ ...gap });
  }
  return out;
}

/** Milliseconds of the gaps that lie after `since`. */
export const sumGapsSince = (listGaps: readonly Gap[], since: number): number =>
  listGaps.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);

@injectable()
export class Outages {
  #timer: NodeJS.Timeout | undefined;
  /** Heartbeats were rejected since the last stamp. */
  #refused = false;

  constructor(@inject(DEPS) private readonly deps: WatchdogDeps) {}

  /**
   * Only `serve` calls this: records the gap since the last sign of life, then gives signs of life. A disk that is full
   * refuses heartbeats as well, and the next sign after it ends both.
   */
  async start(): Promise<void> {
    const notStored = (err: unknown): void => this.deps.log.error({ err }, 'the sign of life was not stored');
    await this.stamp().catch((error: unknown) => {
      if (!(error instanceof StoreFull)) throw error;
      notStored(error);
    });
    this.#timer = setInterval(() => void this.stamp().catch(notStored), STAMP_INTERVAL_MS);
    this.#timer.unref();
  }

  /** A stop is no crash: the outage begins now. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.stamp();
  }

  /** Writes a stamp, unless heartbeats are rejected. @throws StoreFull */
  async stamp(): Promise<void> {
    if (this.#isRejecting()) return;
    try {
      await this.#writeStamp();
      this.#refused = false;
    } catch (error) {
      if (error instanceof StoreFull) this.#refused = true;
      throw error;
    }
  }

  #isRejecting(): boolean {
    const now = this.deps.refuses();
    this.#refused ||= now;
    return now;
  }

  /** The gap first, under an id that follows from its beginning, then the stamp that ends it. */
  async #writeStamp(): Promise<void> {
    const { marks, outages, clock } = this.deps;
    const now = clock.now();
    const set = { at: isoOf(now) };
    const least = this.#refused ? 0 : MIN_GAP_MS;
    // Nearly always another sign lies less than a gap behind: one write tells and renews it.
    if ((await marks.change({ id: ALIVE_MARK_ID, at: { gte: isoOf(now - least) } }, { set })) !== null) return;
    const last = await marks.get(ALIVE_MARK_ID);
    if (last !== null && now - Date.parse(last.at) > least) {
      const gap = { setOnInsert: { from: last.at }, max: { to: isoOf(now) } };
      await outages.change({ id: `gap:${last.at}` }, gap, { upsert: true });
    }
    await marks.change({ id: ALIVE_MARK_ID }, { set }, { upsert: true });
  }

  /**
   * Every gap, including an open one. `open`: no process has stamped for longer than a gap takes, or this one refuses
   * heartbeats.
   */
  async gaps(): Promise<{ gaps: Gap[]; open: boolean }> {
    const { marks, outages, clock } = this.deps;
    const now = clock.now();
    const [last, page] = await Promise.all([
      marks.get(ALIVE_MARK_ID),
      outages.find({ sort: [['to', 'desc']], limit: MAX_GAPS }),
    ]);
    const gaps = page.items
      .map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }))
      // One that ends later than now was measured by a clock that was set back since: nobody knows how long it was.
      .filter(({ to }) => to <= now + MIN_GAP_MS);
    const since = last === null ? now : Date.parse(last.at);
    this.#isRejecting();
    const open = this.#refused || now - since > MIN_GAP_MS;
    if (open) gaps.push({ from: since, to: now });
    return { gaps: mergeGaps(gaps), open };
  }
}
