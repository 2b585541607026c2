/**
 * Counts a report (contract 20, values; contract 21, intake). `countFastPath` is one atomic write
 * whose filter selects occurrences that need no read. All others (a resolved item, a duplicate, a
 * different mute, an existing reference) use `countWithReload`.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { DEPS } from '../deps.js';
import { getReportFastCountKind } from '../item/derived-fields.js';
import type { ItemDoc, RefDoc } from '../item/model.js';
import { ClientRefService, isOwnRef } from '../store/client-refs.js';
import { CountBatcher, buildCountUpdate, removeStaleNotes, buildNoNoteFilter } from './count-batcher.js';
import {
  type AcceptedReport,
  type CountResult,
  type CountedReference,
  toIncomingReport,
  type IncomingReport,
  needsReferenceNote,
  type Placement,
} from './incoming-report.js';
import { ItemCreator } from './item-creator.js';
import { PayloadSampler } from './payload-sampler.js';
import { GroupResolver } from './group-resolver.js';
import { type PublishedReleases, formatReportedVersion } from '../item/build-names.js';
import { ChangeSet, mergeUpdates } from '../item/change-set.js';
import { isMutedByUser, UNMUTED_FIELDS } from '../muting/timed-mute.js';
import { evaluateRegression } from '../builds/regression.js';
import { getSeverityRank, toSeverity } from '../item/severity.js';
import { REOPENABLE_STATUSES } from '../item/transitions.js';
import { PublishedBuildRepository } from '../builds/published-builds.js';
import { VersionFaultTracker } from '../builds/version-faults.js';
import { getSketches } from '../store/people-sketches.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { addUsersToCount, buildUserSketchUpdate } from './affected-users.js';
import type { RemovalDoc } from '../item/operation-documents.js';
import type { Ids } from '../../../ports/ids.js';
import type { Collection } from '../../../ports/store/index.js';

/**
 * @returns `late`: an old installation reported a fixed error; `regression`: the item is reopened
 */
export function planOccurrence(
  change: ChangeSet,
  incoming: IncomingReport,
  published: PublishedReleases,
): { late: boolean; regression: boolean } {
  const { item } = change;
  planMuting(change, incoming);
  let late = false;
  let regression = false;
  if (item.type !== 'feature' && REOPENABLE_STATUSES.has(item.status)) {
    const verdict =
      item.review === 'open'
        ? 'late'
        : evaluateRegression(item, formatReportedVersion(incoming.report), incoming.occurred, published);
    late = verdict === 'late';
    regression = verdict === 'regression';
    if (regression) planRegression(change, incoming.report.app_version ?? null);
  }
  const { next } = change;
  if (!next.muted && !next.sent.created) change.emit(next.type === 'feature' ? 'feature.created' : 'bug.created');
  // It became critical while muted, without an event.
  if (!next.muted && (item.muted || !item.sent.created) && next.severity === 'critical') change.emit('bug.critical');
  return { late, regression };
}

function planMuting(change: ChangeSet, { report, now }: IncomingReport): void {
  const { item } = change;
  if (isMutedByUser(item, now)) return;
  const rule = report.muted_by ?? null;
  if (rule === null && item.muted) {
    change
      .assign(UNMUTED_FIELDS)
      .addHistoryEntry('unmuted', { why: item.muted_until ? 'time is over' : 'no rule matches anymore' });
  } else if (rule !== null && item.muted_by_rule_id !== rule.rule_id) {
    change.assign({ muted: true, muted_reason: rule.reason, muted_by_rule_id: rule.rule_id, muted_until: null });
    change.addHistoryEntry('muted', { rule_id: rule.rule_id, reason: rule.reason });
  }
}

function planRegression(change: ChangeSet, version: string | null): void {
  const { item } = change;
  change.reopen({ why: 'regression', version });
  change.assign({
    regression: true,
    regression_count: item.regression_count + 1,
    regressed_at: change.at,
    regressed_in_build: version,
  });
  const raised = item.severity_locked ? item.severity : toSeverity(getSeverityRank(item.severity) + 1);
  if (raised !== item.severity) {
    change
      .addHistoryEntry('severity', { from: item.severity, to: raised, why: 'regression' })
      .assign({ severity: raised });
  }
  // The occurrence that unmutes it emits the event.
  if (change.next.muted) change.assign({ sent: { ...change.next.sent, created: false } });
  change.emit('bug.created', { regression: true });
  if (raised !== item.severity && raised === 'critical') change.emit('bug.critical');
}

/** With all effects: reopen, mute, unmute, forward to a merge target. */
@injectable()
export class OccurrenceRecorder {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(PublishedBuildRepository) private readonly known: PublishedBuildRepository,
    @inject(VersionFaultTracker) private readonly faults: VersionFaultTracker,
  ) {}

  /** Null if the item changed concurrently. */
  async count(item: ItemDoc, incoming: IncomingReport): Promise<CountResult | null> {
    const { app_version = null } = incoming.report;
    const builds = item.resolved_in_build === null ? [] : [item.resolved_in_build, app_version];
    const published = await this.known.listMatching(item.project, builds);
    return this.watermark.write(item.id, async (stamp) => {
      const change = new ChangeSet(item, 'system', stamp, this.ids);
      const { late, regression } = planOccurrence(change, incoming, published);
      if (regression) change.assign(this.faults.buildFaultFields(item, incoming.report));
      const joining = incoming.person === null ? null : buildUserSketchUpdate(getSketches(item), [incoming.person]);
      const counted = removeStaleNotes(buildCountUpdate(incoming, stamp, late), this.refs.takeRemovablePaths(item.id));
      const count = addUsersToCount(counted, joining);
      const update = change.isEmpty ? count : mergeUpdates(count, change.toUpdate());
      // A helper may count only if no other call has counted since it read the item
      // (client-refs.ts).
      const same = incoming.ref?.helper === true ? { hit_count: item.hit_count } : {};
      const changed = await this.items.change(
        { id: item.id, rev: item.rev, ...same, ...buildNoNoteFilter(incoming), ...joining?.filter },
        update,
      );
      if (changed === null) return null;
      return {
        doc: changed.doc,
        outcome: 'counted',
        regression,
        entries: change.pendingEntries,
        sampled: null,
        incoming,
      };
    });
  }
}

const MAX_ATTEMPTS = 100;

@injectable()
export class OccurrenceCounter {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.removals) private readonly removals: Collection<RemovalDoc>,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(GroupResolver) private readonly groupResolver: GroupResolver,
    @inject(ItemCreator) private readonly newItems: ItemCreator,
    @inject(CountBatcher) private readonly batcher: CountBatcher,
    @inject(OccurrenceRecorder) private readonly seen: OccurrenceRecorder,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
  ) {}

  /** Returns null if another call was faster; the report must be retried. */
  createItem(accepted: AcceptedReport, place: Placement): Promise<CountResult | null> {
    return this.newItems.create(accepted, place);
  }

  /** Returns null if the write was rejected; nothing is counted then. */
  async countFastPath(accepted: AcceptedReport, place: Placement): Promise<CountResult | null> {
    const { item_id } = place;
    const { ref, report } = accepted;
    if (ref === null) return this.#countFast(item_id, toIncomingReport(accepted, place, null));
    const prepared = await this.refs.prepare({ id: ref.id, project: report.project, item_id, own: false });
    if (prepared === null) return null;
    ref.opened = prepared.opened;
    const counted = await this.#countFast(
      item_id,
      toIncomingReport(accepted, place, { id: ref.id, along: prepared.along, helper: false }),
    );
    if (counted !== null) this.#finishReference(counted);
    return counted;
  }

  /**
   * @param bound the reference, if another call has bound it
   * @returns null if the item was deleted and the report must be retried
   */
  async countWithReload(accepted: AcceptedReport, place: Placement, bound: RefDoc | null): Promise<CountResult | null> {
    const at = await this.#bindReference(accepted, place, bound);
    const counted = await this.#count(at.item_id, toIncomingReport(accepted, place, at.ref));
    if (counted !== null) {
      this.#finishReference(counted);
      return counted;
    }
    await this.groupResolver.removeKeys(place, at.item_id);
    if (at.ref !== null) await this.refs.release(at.ref.id, at.item_id);
    if (accepted.ref !== null) accepted.ref.opened = false;
    return null;
  }

  /** Does not count; null if the item was deleted. */
  async resolveRepeat(accepted: AcceptedReport, { id, item_id }: RefDoc): Promise<CountResult | null> {
    const doc = await this.items.get(item_id);
    if (doc !== null)
      return toRepeatResult(doc, toIncomingReport(accepted, this.groupResolver.toPlacement(item_id, accepted), null));
    if (!(await this.#isDeleted(item_id)))
      throw conflict('The report with this client_ref is being stored; try again.');
    await this.refs.release(id, item_id);
    return null;
  }

  async #bindReference(
    { ref: own, report }: AcceptedReport,
    { item_id }: Placement,
    bound: RefDoc | null,
  ): Promise<{ item_id: string; ref: CountedReference | null }> {
    if (own === null) return { item_id, ref: null };
    const { id } = own;
    if (bound !== null) return { item_id: bound.item_id, ref: { id, along: [], helper: !own.opened } };
    if (own.opened) return { item_id, ref: { id, along: [], helper: false } };
    const { ref, mine } = await this.refs.bind(id, report.project, item_id);
    own.opened = mine;
    return { item_id: ref.item_id, ref: { id, along: [], helper: !mine } };
  }

  async #count(firstId: string, incoming: IncomingReport): Promise<CountResult | null> {
    const passed = new Set<string>();
    let id = firstId;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const blind = incoming.ref?.helper === true ? null : await this.#countFast(id, incoming);
      if (blind !== null) return blind;
      const item = await this.items.get(id);
      if (item === null) {
        if (await this.#isDeleted(id)) return null;
        const completed = await this.newItems.complete(id, incoming);
        if (completed !== null) return completed;
        continue;
      }
      if (incoming.ref !== null && (await this.#isCounted(item, incoming.ref))) return toRepeatResult(item, incoming);
      passed.add(id);
      const target = item.status === 'duplicate' ? item.duplicate_of : null;
      if (target !== null && !passed.has(target) && (await this.items.get(target)) !== null) {
        if (incoming.ref !== null) await this.refs.rebind(incoming.ref.id, id, target);
        id = target;
        continue;
      }
      const seen = await this.seen.count(item, incoming);
      if (seen !== null) return seen;
    }
    throw conflict('Too many concurrent changes of the item; send the report again.');
  }

  async #countFast(id: string, incoming: IncomingReport): Promise<CountResult | null> {
    const kind = getReportFastCountKind(incoming.report.muted_by?.rule_id);
    const counted = await this.batcher.count(id, kind, incoming, this.sampler.planWrite(id, incoming));
    if (counted === null) return null;
    const { doc, sampled } = counted;
    this.sampler.cacheWindow(doc);
    return { doc, outcome: 'counted', regression: false, entries: [], sampled, incoming };
  }

  async #isCounted(item: ItemDoc, ref: CountedReference): Promise<boolean> {
    if (item.inflight[ref.id] !== undefined) return true;
    return ref.helper && (await this.refs.find(ref.id))?.open_at === null;
  }

  #finishReference({ doc, outcome, incoming: { ref } }: CountResult): void {
    if (outcome !== 'counted' || !needsReferenceNote(ref)) return;
    this.refs.scheduleClose({
      id: ref.id,
      project: doc.project,
      item_id: doc.id,
      own: isOwnRef(doc, ref.id),
      helped: ref.helper,
    });
  }

  async #isDeleted(id: string): Promise<boolean> {
    return (await this.removals.get(id)) !== null;
  }
}

const toRepeatResult = (doc: ItemDoc, incoming: IncomingReport): CountResult => ({
  doc,
  outcome: 'repeated',
  regression: false,
  entries: [],
  sampled: false,
  incoming,
});
