/**
 * Collects a change of one item. Every write of an item's state is built here, so no index field is
 * forgotten. Counters (occurrence-counter.ts), notes and markers are not part of the state.
 */
import type { BugEvent, ItemStatus, Severity } from '../../../ports/domain/bugs.js';
import type { Ids } from '../../../ports/ids.js';
import type { Json, Update } from '../../../ports/store/index.js';
import type { AuthorKind } from '../caller.js';
import { computeDerivedFields } from './derived-fields.js';
import type { EventName, ItemDoc, ClaimLease, LeaseEnd, ItemOutboxEntry, UnreadEntry } from './model.js';
import { UNFILED_CLAIM_FIELD, UNFILED_CREATION_FIELD } from './stored-field-names.js';
import { isFinished } from './transitions.js';
import { mergeUnread, addUnread } from './unread-entries.js';

/** Ended claim tokens whose holders can learn the reason. */
const MAX_ENDED_LEASES = 10;

export class ChangeSet {
  readonly set: Partial<ItemDoc> = {};
  readonly entries: ItemOutboxEntry[] = [];
  readonly #counters: Record<string, number> = {};
  overrides = false;
  by: 'holder' | 'person' | 'other' = 'other';

  constructor(
    readonly item: Readonly<ItemDoc>,
    readonly actor: string,
    readonly at: string,
    private readonly ids: Ids,
    /** The agent that acts with the actor's token. */
    private readonly agent?: string,
  ) {}

  get #author(): Pick<ItemOutboxEntry, 'actor' | 'agent'> {
    return { actor: this.actor, ...(this.agent !== undefined && { agent: this.agent }) };
  }

  get next(): ItemDoc {
    return { ...this.item, ...this.set };
  }

  get isEmpty(): boolean {
    return Object.keys(this.set).length === 0 && this.entries.length === 0;
  }

  /** An empty change writes none. */
  get pendingEntries(): readonly ItemOutboxEntry[] {
    return this.isEmpty ? this.entries : [...listPendingEntries(this.item), ...this.entries];
  }

  assign(fields: Partial<ItemDoc>): this {
    Object.assign(this.set, fields);
    return this;
  }

  /**
   * Occurrences count concurrently.
   * @param inc path → the number to add
   */
  incrementCounters(inc: Readonly<Record<string, number>>): this {
    Object.assign(this.#counters, inc);
    return this;
  }

  /** @param id fixed, if a repeat must find it again */
  addHistoryEntry(action: string, data: { [key: string]: Json } = {}, id = this.ids.uuid()): this {
    this.entries.push({ id, kind: 'activity', name: action, at: this.at, ...this.#author, data });
    return this;
  }

  /** @param id fixed, if a repeat must find it again */
  addComment(body: string, kind: AuthorKind = 'integration', id = this.ids.uuid()): this {
    const entry = { name: 'comment', at: this.at, ...this.#author, data: { body, kind } };
    this.addHistoryEntry('commented', { comment_id: id });
    this.entries.push({ id, kind: 'comment', ...entry });
    return this;
  }

  /** Once per cycle; none for a muted item (contract 20, severity). */
  emit(name: EventName, overrides: Partial<BugEvent> = {}): this {
    const { next } = this;
    const what = name === 'bug.critical' ? 'critical' : name === 'bug.resolved' ? 'resolved' : 'created';
    const again = name === 'bug.created' && overrides.regression === true;
    if (next.muted || (next.sent[what] && !again)) return this;
    this.assign({ sent: { ...next.sent, [what]: true } });
    return this.addEvent(name, overrides);
  }

  /** @param more members of its data */
  addEvent(name: string, more: { [key: string]: Json } = {}): this {
    const {
      id,
      ref,
      type,
      title,
      severity,
      status: item_status,
      client_ref,
      regression,
      people = null,
      tags,
    } = this.next;
    const data = { id, ref, type, title, severity, item_status, client_ref, regression, people, tags, ...more };
    this.entries.push({ id: `evt_${this.ids.uuid()}`, kind: 'event', name, at: this.at, actor: this.actor, data });
    return this;
  }

  /** Reaching critical emits an event. */
  setSeverity(to: Severity, why: string): this {
    const { next } = this;
    if (next.severity === to) return this;
    this.addHistoryEntry('severity', { from: next.severity, to, why }).assign({ severity: to });
    if (to === 'critical') this.emit('bug.critical');
    return this;
  }

  /** Every status except `in_progress` ends the lease. */
  setStatus(to: ItemStatus, data: { [key: string]: Json } = {}, end: LeaseEnd = getLeaseEnd(to)): this {
    this.addHistoryEntry('status', { from: this.next.status, to, ...data });
    const { claim } = this.next;
    const goesOn = to === 'open' || to === 'needs_info';
    if (claim !== null && goesOn)
      this.assign({
        handed: {
          by: claim.agent,
          reason: toTextOrNull(data['reason']) ?? (end === 'expired' ? 'lease expired' : null),
          at: this.at,
        },
      });
    if (to !== 'resolved' && this.next.review === 'open') this.assign({ review: null });
    const { reason } = data;
    return this.endLease(this.overrides ? 'taken' : end, toTextOrNull(reason)).assign({ status: to, claim: null });
  }

  endLease(why: LeaseEnd, reason: string | null = null): this {
    const { claim, ended_leases = [] } = this.next;
    if (claim === null) return this;
    const { credential, agent } = claim;
    if (why === 'expired') this.assign({ last_holder: { credential, agent } });
    else if (this.next.last_holder) this.assign({ last_holder: null });
    const ended = { token_hash: claim.token_hash, why, ...(why === 'overridden' && reason !== null && { reason }) };
    return this.assign({ ended_leases: [...ended_leases, ended].slice(-MAX_ENDED_LEASES) });
  }

  /** The event is emitted once per cycle. */
  markFixed(to: 'resolved' | 'closed', data: { [key: string]: Json } = {}): this {
    this.setStatus(to, data).assign({ [to === 'resolved' ? 'resolved_at' : 'closed_at']: this.at });
    return this.emit('bug.resolved');
  }

  reopen(data: { [key: string]: Json } = {}): this {
    const { item } = this;
    const { resolved_in_build, fix_commit } = item;
    this.setStatus('open', { resolved_in_build, ...(fix_commit && { fix_commit }), ...data });
    if (item.status === 'resolved' || item.status === 'closed') this.assign({ earlier_fix: toEarlierFix(item) });
    return this.assign({
      resolved_in_build: null,
      ...(fix_commit && { fix_commit: null }),
      resolved_at: null,
      closed_at: null,
      duplicate_of: null,
      fix_comment: null,
      ...(item.review && { review: null }),
      ...(item.pr_fix_at && { pr_fix_at: null }),
      expired_count: 0,
      release_count: 0,
      sent: { created: this.next.sent.created, critical: false, resolved: false },
    });
  }

  toDocument(): ItemDoc {
    const last = this.entries.at(-1);
    return {
      ...this.next,
      ...computeDerivedFields(this.next),
      updated_at: this.at,
      outbox: this.entries,
      outbox_at: last === undefined ? null : `${this.at} ${last.id}`,
    };
  }

  takeUnread(): readonly UnreadEntry[] {
    const { claim } = this.next;
    const unread = this.item.claim?.unread ?? [];
    if (claim !== null && unread.length > 0) this.assign({ claim: { ...claim, unread: [] } });
    return unread;
  }

  addUnreadEntry(entry: UnreadEntry): void {
    const { claim } = this.next;
    if (claim === null || claim.unread?.some(({ id }) => id === entry.id) === true) return;
    this.assign({ claim: { ...claim, unread: mergeUnread(claim.unread, [entry]) } });
  }

  /** They stay unread: another agent with the same credential may have read them. */
  markUnreadShown(): void {
    const { claim } = this.next;
    const unread = claim?.unread ?? [];
    if (claim === null || unread.every(({ shown }) => shown === true)) return;
    this.assign({
      claim: { ...claim, unread: unread.map(({ id, kind, person }) => ({ id, kind, person, shown: true })) },
    });
  }

  /** Adds this change to the holder's unread entries. */
  #buildClaimFields(): Partial<ItemDoc> {
    const { claim } = this.next;
    if (this.by === 'holder' || this.item.claim === null || claim === null) return {};
    const unread = addUnread(claim.unread, this.entries, this.by === 'person');
    return unread === undefined ? {} : { claim: { ...claim, unread } };
  }

  #getBlockingMarker(): Partial<ItemDoc> {
    const { item, next } = this;
    if (item.blocking !== true || isFinished(item.status) === isFinished(next.status)) return {};
    return { relink_at: `${this.at} ${item.rev + 1}` };
  }

  #getSearchMarker(): Partial<ItemDoc> {
    const hasSearchTextChanged =
      this.set.search_text !== undefined || this.entries.some(({ kind }) => kind === 'comment');
    return hasSearchTextChanged ? { words_at: `${this.at} ${this.item.rev + 1}` } : {};
  }

  /**
   * Next revision, and never an earlier `updated_at`.
   * @param outbox entries that the same transaction does not write elsewhere
   */
  toUpdate(outbox: readonly ItemOutboxEntry[] = this.pendingEntries): Update {
    const filed = UNFILED_FIELDS.filter((field) => this.item[field] !== undefined);
    const update: Update = {
      ...(filed.length > 0 && { unset: filed }),
      set: {
        ...this.set,
        ...this.#buildClaimFields(),
        ...this.#getBlockingMarker(),
        ...this.#getSearchMarker(),
        ...computeDerivedFields(this.next),
      } as unknown as NonNullable<Update['set']>,
      inc: { rev: 1, ...this.#counters },
      max: { updated_at: this.at },
    };
    const last = outbox.at(-1);
    if (last !== undefined) {
      update.push = { outbox: { each: outbox as unknown as Json[] } };
      (update.set as Record<string, Json>)['outbox_at'] = `${this.at} ${last.id}`;
    }
    return update;
  }
}

const toTextOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

const toEarlierFix = ({
  resolved_in_build,
  fix_commit,
  fix_comment,
}: ItemDoc): NonNullable<ItemDoc['earlier_fix']> => ({
  build: resolved_in_build,
  commit: fix_commit ?? null,
  comment: fix_comment ?? null,
});

const getLeaseEnd = (to: ItemStatus): LeaseEnd => (to === 'open' || to === 'needs_info' ? 'released' : 'resolved');

/** `queue_key` is the only derived field that a claim changes. */
export function buildQueueClaim(claim: ClaimLease, unfiled: { id: string; actor: string }): Update {
  return {
    set: {
      status: 'in_progress',
      claim: claim as unknown as Json,
      queue_key: null,
      [UNFILED_CLAIM_FIELD]: { ...unfiled },
    },
    inc: { rev: 1, claim_count: 1 },
    max: { updated_at: claim.claimed_at },
  };
}

export const UNFILED_FIELDS = [UNFILED_CREATION_FIELD, UNFILED_CLAIM_FIELD] as const;

type UnfiledItem = Pick<ItemDoc, 'id' | 'source' | 'created_at' | 'claim' | (typeof UNFILED_FIELDS)[number]>;

/**
 * Lists oldest first. Each is one small field, because each new group and each claim writes one.
 */
export function listPendingEntries(item: UnfiledItem): ItemOutboxEntry[] {
  const { id, source, created_at, claim, [UNFILED_CREATION_FIELD]: creator, [UNFILED_CLAIM_FIELD]: claimed } = item;
  const entries: ItemOutboxEntry[] = [];
  // No other entry has the item's own id.
  if (creator !== undefined)
    entries.push({ id, kind: 'activity', name: 'created', at: created_at, actor: creator, data: { source } });
  if (claimed !== undefined && claim !== null) {
    const { claimed_at, agent } = claim;
    entries.push({ ...claimed, kind: 'activity', name: 'claimed', at: claimed_at, data: { agent, by: 'next' } });
  }
  return entries;
}

/** No revision: the level does not raise the severity and is evaluated once. */
export const buildLevelUpdate = (rank: number, error_level: ItemDoc['error_level']): Update => ({
  set: { level_rank: rank, error_level },
});

export function mergeUpdates(a: Update, b: Update): Update {
  const max = { ...a.max, ...b.max };
  return {
    set: { ...a.set, ...b.set },
    unset: [...(a.unset ?? []), ...(b.unset ?? [])],
    inc: { ...a.inc, ...b.inc },
    max,
    min: { ...a.min, ...b.min },
    push: { ...a.push, ...b.push },
  };
}
