/**
 * Before and at the expiry of each license (contract 50, events). Requests compute expiry
 * themselves.
 */
import { inject, injectable, type Collection, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { MAX_AHEAD_MS, hasElapsed } from '../../../lib/clock-skew.js';
import { iterateItems, iteratePages } from '../../../lib/paging.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { Filter } from '../../../ports/store/index.js';
import { LICENSE_EXPIRED, LICENSE_EXPIRING } from '../../../ports/domain/licensing.js';
import { DEPS, type LicensingConfig } from '../deps.js';
import type { LicenseDoc, ExpiryMarkDoc } from '../model/documents.js';
import { formatOutboxPosition } from '../../../lib/outbox.js';
import { LICENSE_OUTBOX, type LicensingOutbox } from '../outbox.js';
import { StoreAccessMarks } from './store-access-marks.js';
import { getDueTimes, buildLicenseEvent } from './new-license.js';
import { LicenseChangeNotifier } from './change-notifier.js';

const BATCH_SIZE = 200;
const EXPIRY_MARK_ID = 'expiry';
const UPSERT_OPTIONS = { upsert: true };
type DueField = 'expire_due' | 'warn_due';

@injectable()
export class LicenseExpiryJob {
  constructor(
    @inject(DEPS.licenses) private readonly licenses: Collection<LicenseDoc>,
    @inject(DEPS.expiryMarks) private readonly expiryMarks: Collection<ExpiryMarkDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.config) private readonly config: LicensingConfig,
    @inject(StoreAccessMarks) private readonly marks: StoreAccessMarks,
    @inject(LicenseChangeNotifier) private readonly watchers: LicenseChangeNotifier,
    @inject(LICENSE_OUTBOX) private readonly outbox: LicensingOutbox<LicenseDoc>,
  ) {}

  async run(signal?: AbortSignal): Promise<number> {
    const products = await this.#revertEarlyExpiries(signal);
    let n = 0;
    for await (const license of this.#findDue('expire_due', signal)) {
      if (n === 0)
        await this.expiryMarks.change({ id: EXPIRY_MARK_ID }, { set: { until: this.clock.iso() } }, UPSERT_OPTIONS);
      const hasEmitted = await this.marks.runChange(() =>
        this.#emitDueEvent(license, 'expire_due', LICENSE_EXPIRED.event),
      );
      if (!hasEmitted) continue;
      products.add(license.product);
      n++;
    }
    for (const product of products) await this.watchers.notify(product);
    for await (const license of this.#findDue('warn_due', signal))
      await this.#emitDueEvent(license, 'warn_due', LICENSE_EXPIRING.event);
    return n;
  }

  /**
   * Covers reports while the clock ran ahead.
   * @returns the products
   */
  async #revertEarlyExpiries(signal?: AbortSignal): Promise<Set<string>> {
    const { licenses, expiryMarks, clock, config } = this;
    const products = new Set<string>();
    const mark = await expiryMarks.get(EXPIRY_MARK_ID);
    const now = clock.now();
    if (mark === null || Date.parse(mark.until) <= now + MAX_AHEAD_MS) return products;
    // Otherwise two machines with different clocks would report alternately.
    if (mark.taken_back_at !== undefined && !hasElapsed(mark.taken_back_at, HOUR_MS, now)) return products;
    const early: Filter = { status: 'active', expires_at: { gt: toIsoString(now), lte: mark.until }, expire_due: null };
    for await (const license of iterateItems(licenses, {
      filter: early,
      sort: [['created_at', 'asc']],
      limit: BATCH_SIZE,
    })) {
      if (signal?.aborted === true) return products;
      const { id, rev, product } = license;
      const changed = await licenses.change(
        { id, rev, expire_due: null },
        { set: getDueTimes(license, config.expiring_days) },
      );
      if (changed !== null) products.add(product);
    }
    await expiryMarks.change(
      { id: EXPIRY_MARK_ID, until: mark.until },
      { set: { until: toIsoString(now), taken_back_at: toIsoString(now) } },
    );
    return products;
  }

  async *#findDue(due: DueField, signal?: AbortSignal): AsyncGenerator<LicenseDoc, void, undefined> {
    const filter = { [due]: { gt: '', lte: this.clock.iso() } };
    for await (const items of iteratePages(this.licenses, { filter, sort: [[due, 'asc']], limit: BATCH_SIZE })) {
      for (const license of items) {
        if (signal?.aborted === true) return;
        yield license;
      }
    }
  }

  /** Returns false when the license changed, or another process sent the event. */
  async #emitDueEvent(license: LicenseDoc, due: DueField, event: string): Promise<boolean> {
    const entry = buildLicenseEvent({ clock: this.clock, ids: this.ids }, event, license);
    const unset = due === 'expire_due' ? ['expire_due', 'warn_due'] : [due];
    const changed = await this.licenses.change(
      { id: license.id, rev: license.rev, [due]: license[due] },
      { unset, set: { outbox_at: formatOutboxPosition(entry) }, push: { outbox: { each: [entry] } } },
    );
    if (changed !== null) this.outbox.send(changed.doc);
    return changed !== null;
  }
}
