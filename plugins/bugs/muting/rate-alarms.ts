/**
 * `error.rate_exceeded`: a muted group exceeds its rule's threshold in the rolling hour (contract
 * 21, rolling hour). It is emitted when the count rises above the threshold, and again only after
 * it fell to the threshold or below.
 *
 * The hour is measured at the newest minute (occurrence-rate.ts), so the count only rises within a
 * minute, and the minute identifies a crossing. `alarm` names the last crossing with an event. One
 * write compares it and adds the event to the outbox, so exactly one of several parallel reports
 * emits. After a crash the next occurrence or the reconciler (job `bugs.sweep`) emits it.
 *
 * Rejected: an armed flag, because the count also falls without a write; the event in the counting
 * write, which would have to read every muted item first.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { Mute, RateExceeded } from '../../../ports/domain/bugs.js';
import type { Json, Update, Collection } from '../../../ports/store/index.js';
import { CombinedReportFilter } from './report-filters.js';
import { DEPS } from '../deps.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc, ItemOutboxEntry } from '../item/model.js';
import { ItemOutbox } from '../store/item-outbox.js';
import { countLastHour, toMinuteStart, getNewestRate } from '../item/occurrence-rate.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

export interface AlarmRule {
  rule_id: string;
  threshold: number;
}

type AlarmState = Pick<ItemDoc, 'minutes' | 'alarm' | 'muted_by_rule_id'>;

const MAX_ATTEMPTS = 100;
const BATCH_SIZE = 200;
/** For processes whose clock lags. */
const OVERLAP_MS = 120_000;

export const toAlarmId = (ruleId: string, minute: number): string => `${ruleId} ${minute}`;

export function evaluateAlarm(item: AlarmState, { rule_id, threshold }: AlarmRule): 'emit' | 'rearm' | 'none' {
  if (item.muted_by_rule_id !== rule_id) return 'none';
  const { minute, count, before } = getNewestRate(item.minutes);
  const emittedAlarm = item.alarm?.startsWith(`${rule_id} `) ? item.alarm : null;
  if (count <= threshold) return emittedAlarm === null ? 'none' : 'rearm';
  if (emittedAlarm === null) return 'emit';
  return before <= threshold && emittedAlarm !== toAlarmId(rule_id, minute) ? 'emit' : 'none';
}

@injectable()
export class RateAlarmService {
  #since = '';

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(CombinedReportFilter) private readonly filters: CombinedReportFilter,
  ) {}

  async emitIfDue(doc: ItemDoc, mute: Mute | null | undefined): Promise<ItemDoc> {
    const threshold = mute?.alarm_threshold ?? null;
    if (!mute || threshold === null) return doc;
    return this.#emitOrRearm(doc, { rule_id: mute.rule_id, threshold });
  }

  async #emitOrRearm(doc: ItemDoc, watch: AlarmRule): Promise<ItemDoc> {
    let item = doc;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const verdict = evaluateAlarm(item, watch);
      if (verdict === 'none') return item;
      const written = await (verdict === 'emit' ? this.#emit(item, watch) : this.#rearm(item));
      if (written !== null) return written;
      const fresh = await this.items.get(item.id);
      if (fresh === null) return item;
      item = fresh;
    }
    throw new Error(`too many concurrent changes of the alarm of item ${doc.id}`);
  }

  /** No new revision, because status, severity and muting stay. */
  async #emit(item: ItemDoc, { rule_id, threshold }: AlarmRule): Promise<ItemDoc | null> {
    const { minute, count } = getNewestRate(item.minutes);
    const data: RateExceeded = { id: item.id, ref: item.ref, rule_id, count, threshold };
    return this.watermark.write(item.id, async (at) => {
      const entries: ItemOutboxEntry[] = [
        {
          id: `evt_${this.ids.uuid()}`,
          kind: 'event',
          name: 'error.rate_exceeded',
          at,
          actor: 'system',
          data: { ...data },
        },
        {
          id: this.ids.uuid(),
          kind: 'activity',
          name: 'rate exceeded',
          at,
          actor: 'system',
          data: { rule_id, count, threshold },
        },
      ];
      const update: Update = {
        set: { alarm: toAlarmId(rule_id, minute), outbox_at: `${at} ${entries[0]?.id}` },
        push: { outbox: { each: entries as unknown as Json[] } },
        max: { updated_at: at },
      };
      const changed = await this.items.change(buildUnchangedCondition(item), update);
      if (changed === null) return null;
      await this.outbox.flush(changed.doc, entries);
      return changed.doc;
    });
  }

  async #rearm(item: ItemDoc): Promise<ItemDoc | null> {
    return (await this.items.change(buildUnchangedCondition(item), { unset: ['alarm'] }))?.doc ?? null;
  }

  /** A rule that changed after the last occurrence emits nothing for it. */
  async reconcile(): Promise<void> {
    const began = this.clock.now();
    for (const { rule_id, threshold, since } of await this.filters.listAlarmRules()) {
      const filter = { muted_by_rule_id: rule_id, updated_at: { gte: this.#since } };
      for await (const item of iterateItems(this.items, { filter, limit: BATCH_SIZE })) {
        if (this.#isNew(item, threshold, since)) await this.#emitOrRearm(item, { rule_id, threshold });
      }
    }
    this.#since = toIsoString(began - OVERLAP_MS);
  }

  #isNew({ minutes }: ItemDoc, threshold: number, since: string): boolean {
    const occurred = toMinuteStart(getNewestRate(minutes).minute + 1);
    return occurred > Date.parse(since) || countLastHour(minutes, this.clock.now()) > threshold;
  }
}

/** No other writer has emitted, re-armed or changed the muting. */
const buildUnchangedCondition = ({ id, alarm, muted_by_rule_id }: ItemDoc): { [path: string]: string | null } => ({
  id,
  muted_by_rule_id,
  alarm: alarm ?? null,
});
