/**
 * A gap over 60 s in the service's liveness is not counted against monitors (contract 30, own
 * outage); nor is time in which heartbeats were rejected for lack of space. The credit is computed
 * on evaluation, so a restart writes no monitors.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { toIsoString } from '../../../lib/time.js';
import { StoreFull, type Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';
import type { OutageDoc, TimeMarkDoc } from '../model/documents.js';

export const LIVENESS_INTERVAL_MS = 10_000;
const MIN_GAP_MS = 60_000;
const ALIVE_MARK_ID = 'alive';
const MAX_GAPS = 1_000;

export interface Gap {
  from: number;
  to: number;
}

export function mergeGaps(gaps: readonly Gap[]): Gap[] {
  const out: Gap[] = [];
  for (const gap of [...gaps].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && gap.from <= last.to) last.to = Math.max(last.to, gap.to);
    else out.push({ ...gap });
  }
  return out;
}

export const sumGapsSince = (listGaps: readonly Gap[], since: number): number =>
  listGaps.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);

@injectable()
export class OutageRecorder {
  #timer: NodeJS.Timeout | undefined;
  #hasRejected = false;

  constructor(
    @inject(DEPS.outages) private readonly outages: Collection<OutageDoc>,
    @inject(DEPS.marks) private readonly marks: Collection<TimeMarkDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.isRejectingHeartbeats) private readonly isRejectingHeartbeats: () => boolean,
  ) {}

  /**
   * Records the gap since the last record, then liveness periodically; only for `serve`. A full
   * disk stops the records, and the next one ends that gap.
   */
  async start(): Promise<void> {
    const notStored = (err: unknown): void => this.log.error({ err }, 'the liveness timestamp could not be stored');
    await this.recordLiveness().catch((error: unknown) => {
      if (!(error instanceof StoreFull)) throw error;
      notStored(error);
    });
    this.#timer = setInterval(() => void this.recordLiveness().catch(notStored), LIVENESS_INTERVAL_MS);
    this.#timer.unref();
  }

  /** The outage begins now. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.recordLiveness();
  }

  /**
   * Unless heartbeats are rejected.
   * @throws StoreFull
   */
  async recordLiveness(): Promise<void> {
    if (this.#isRejecting()) return;
    try {
      await this.#writeLiveness();
      this.#hasRejected = false;
    } catch (error) {
      if (error instanceof StoreFull) this.#hasRejected = true;
      throw error;
    }
  }

  #isRejecting(): boolean {
    const now = this.isRejectingHeartbeats();
    this.#hasRejected ||= now;
    return now;
  }

  /** The gap comes first, under an id derived from its start. */
  async #writeLiveness(): Promise<void> {
    const { marks, outages, clock } = this;
    const now = clock.now();
    const set = { at: toIsoString(now) };
    const least = this.#hasRejected ? 0 : MIN_GAP_MS;
    // Usually one write checks and renews the recent record.
    if ((await marks.change({ id: ALIVE_MARK_ID, at: { gte: toIsoString(now - least) } }, { set })) !== null) return;
    const last = await marks.get(ALIVE_MARK_ID);
    if (last !== null && now - Date.parse(last.at) > least) {
      const gap = { setOnInsert: { from: last.at }, max: { to: toIsoString(now) } };
      await outages.change({ id: `gap:${last.at}` }, gap, { upsert: true });
    }
    await marks.change({ id: ALIVE_MARK_ID }, { set }, { upsert: true });
  }

  /**
   * Includes an open one.
   * @returns `open`: no process recorded liveness for longer than the minimum gap, or this process
   *   rejects heartbeats
   */
  async listGaps(): Promise<{ gaps: Gap[]; open: boolean }> {
    const { marks, outages, clock } = this;
    const now = clock.now();
    const [last, page] = await Promise.all([
      marks.get(ALIVE_MARK_ID),
      outages.find({ sort: [['to', 'desc']], limit: MAX_GAPS }),
    ]);
    const gaps = page.items
      .map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }))
      // A future end was measured before the clock moved backwards.
      .filter(({ to }) => to <= now + MIN_GAP_MS);
    const since = last === null ? now : Date.parse(last.at);
    this.#isRejecting();
    const open = this.#hasRejected || now - since > MIN_GAP_MS;
    if (open) gaps.push({ from: since, to: now });
    return { gaps: mergeGaps(gaps), open };
  }
}
