import { inject, injectable } from '../../../kernel/contract/index.js';
import type { MutableErrorGroup, Mute, GroupMuter } from '../../../ports/domain/bugs.js';
import { conflict } from '../../../kernel/errors.js';
import { iterateItems } from '../../../lib/paging.js';
import { toAlarmId } from './rate-alarms.js';
import { UNMUTED_FIELDS } from './timed-mute.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import type { ChangeSet } from '../item/change-set.js';
import { ItemService } from '../store/item-service.js';
import { toItemSort } from '../item/filters.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import { countLastHour, getNewestRate } from '../item/occurrence-rate.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 100;

@injectable()
export class MutingService implements GroupMuter {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
  ) {}

  countGroups(project: string | null): Promise<number> {
    return this.itemRows.count({ type: 'error', ...(project !== null && { project }) });
  }

  countMuted(ruleId: string): Promise<number> {
    return this.itemRows.count({ muted_by_rule_id: ruleId });
  }

  async listGroups(query: {
    project?: string | null;
    muted_by?: string;
    newest?: boolean;
    limit: number;
    after?: string | null;
  }): Promise<{ items: MutableErrorGroup[]; next: string | null }> {
    const { project = null, muted_by, newest, limit, after = null } = query;
    const filter = {
      type: 'error',
      ...(project !== null && { project }),
      ...(muted_by && { muted_by_rule_id: muted_by }),
    };
    const page = await this.itemRows.find({
      filter,
      limit,
      after,
      ...(newest && { sort: toItemSort('last_seen_at') }),
    });
    if (page.items.length === 0) return { items: [], next: null };
    const texts = await this.texts.find({ filter: { id: { in: page.items.map(({ id }) => id) } }, limit });
    const byId = new Map(texts.items.map((doc) => [doc.id, doc]));
    return { items: page.items.map((item) => toMutable(item, byId.get(item.id))), next: page.next };
  }

  async mute(id: string, mute: Mute): Promise<boolean> {
    return this.#change(id, (item, change) => {
      if (item.muted) return false;
      change.assign({
        muted: true,
        muted_reason: mute.reason,
        muted_by_rule_id: mute.rule_id,
        ...this.#buildSuppressedAlarm(item, mute),
      });
      change.addHistoryEntry('muted', { rule_id: mute.rule_id, reason: mute.reason, why: 'applied' });
      return true;
    });
  }

  async unmute(id: string, ruleId: string): Promise<boolean> {
    return this.#change(id, (item, change) => planUnmute(item, change, ruleId));
  }

  async updateReason(id: string, mute: Mute): Promise<void> {
    await this.#change(id, (item, change) => {
      if (item.muted_by_rule_id !== mute.rule_id || item.muted_reason === mute.reason) return false;
      change.assign({ muted_reason: mute.reason });
      return true;
    });
  }

  /**
   * Mutes one item, whatever its events say.
   * @param until RFC 3339
   * @throws ServiceError not_found, insufficient_scope
   */
  async muteUntil(
    name: string,
    caller: BugCaller,
    { until, reason }: { until: string; reason: string | null },
  ): Promise<ItemDoc> {
    const { id } = await this.items.get(name, caller);
    return this.items.change(id, caller, (_, change) => {
      change
        .assign({ muted: true, muted_reason: reason, muted_by_rule_id: null, muted_until: until })
        .addHistoryEntry('muted', { until, ...(reason !== null && { reason }) });
    });
  }

  /** @throws ServiceError not_found, insufficient_scope, conflict for an item that a rule mutes */
  async unmuteItem(name: string, caller: BugCaller): Promise<ItemDoc> {
    const { id } = await this.items.get(name, caller);
    return this.items.change(id, caller, (item, change) => {
      if (item.muted_by_rule_id !== null)
        throw conflict('An ignore rule mutes this issue. Disable the rule to unmute it.');
      if (item.muted) change.assign(UNMUTED_FIELDS).addHistoryEntry('unmuted');
    });
  }

  async unmuteExpired(): Promise<void> {
    const now = this.clock.iso();
    const over = { muted_until: { gt: '', lte: now } };
    for await (const { id } of iterateItems(this.itemRows, { filter: over, limit: BATCH_SIZE })) {
      await this.#change(id, (item, change) => {
        if (!item.muted_until || item.muted_until > now) return false;
        change.assign(UNMUTED_FIELDS).addHistoryEntry('unmuted', { why: 'time is over' });
        return true;
      });
    }
  }

  /** An old rate must not trigger a newer rule's alarm. */
  #buildSuppressedAlarm(item: ItemDoc, mute: Mute): Partial<ItemDoc> {
    const threshold = mute.alarm_threshold ?? null;
    if (threshold === null || countLastHour(item.minutes, this.clock.now()) > threshold) return {};
    const { minute, count } = getNewestRate(item.minutes);
    return count > threshold ? { alarm: toAlarmId(mute.rule_id, minute) } : {};
  }

  async #change(id: string, plan: (item: ItemDoc, change: ChangeSet) => boolean): Promise<boolean> {
    if ((await this.itemRows.get(id)) === null) return false;
    let done = false;
    await this.items.change(id, 'system', (item, change) => {
      done = plan(item, change);
    });
    return done;
  }
}

/** Returns false when the rule does not mute the item. */
export function planUnmute(item: ItemDoc, change: ChangeSet, ruleId: string): boolean {
  if (item.muted_by_rule_id !== ruleId) return false;
  change.assign(UNMUTED_FIELDS).addHistoryEntry('unmuted', { rule_id: ruleId });
  return true;
}

const toMutable = (item: ItemDoc, texts: TextsDoc | undefined): MutableErrorGroup => ({
  id: item.id,
  ref: item.ref,
  title: item.title,
  error_message: texts?.error_message ?? null,
  exception_class: item.exception_class,
  project: item.project,
  environment: item.environment,
  hit_count: item.hit_count,
  last_seen_at: item.last_seen_at,
  muted: item.muted,
  muted_by_rule_id: item.muted_by_rule_id,
});
