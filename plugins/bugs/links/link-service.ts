/**
 * Links between items (contract 20, links): one document for both ends.
 *
 * Creation: `asked` with the marker `open_at` → checks → `made` → history of both ends → the
 * blocked item is re-evaluated (store/blocking.ts) → the marker is removed. Of two callers that
 * would close a cycle together, each sees the other's link, and the one that withdraws retries.
 *
 * Removal: `leaving` with the marker → the blocked item → history of both ends → the document is
 * deleted. The job `bugs.reconcile` completes what a crash left and deletes unacknowledged `asked`
 * links.
 */
import { inject, injectable, type Principal } from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import { buildElapsedFilter, hasElapsed } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { toLinkEnds, getInverseKind, toLinkId, MAX_LINKS, type LinkEnds, type LinkKind } from '../item/link-kinds.js';
import type { ItemDoc, ActivityDoc } from '../item/model.js';
import type { LinkDoc } from '../item/operation-documents.js';
import { BlockingService } from '../store/blocking.js';
import { ItemService } from '../store/item-service.js';
import { LinkLeaseService } from './link-lease.js';
import { findBlockingCycle, listItemLinks } from './link-graph.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { Clock } from '../../../ports/clock.js';
import type { Ids } from '../../../ports/ids.js';

const MAX_ATTEMPTS = 30;
const MAX_WAIT_MS = 64;
/** Older markers belong to a process that has ended. */
const STALE_MARKER_MS = 10_000;
const BATCH_SIZE = 100;

export interface LinkRequest {
  kind: LinkKind;
  /** Id or ref of the other item. */
  ref: string;
  claim_token?: string | undefined;
}

type LinkActor = Pick<LinkDoc, 'actor' | 'lease'>;
type LinkFault = 'circle' | 'many' | 'gone';

@injectable()
export class LinkService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.links) private readonly links: Collection<LinkDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.random) private readonly random: () => number,
    @inject(DEPS.audit) private readonly audit: () => AuditLog | undefined,
    @inject(ItemService) private readonly items: ItemService,
    @inject(BlockingService) private readonly blocking: BlockingService,
    @inject(LinkLeaseService) private readonly lease: LinkLeaseService,
  ) {}

  /**
   * @returns the item; `created` is false when the link existed
   * @throws ServiceError not_found; validation_failed when `ref` names no other item visible to the
   *   caller; conflict for a cycle or too many links; claim_required, lease_lost
   */
  async add(
    name: string,
    principal: Principal,
    caller: BugCaller,
    request: LinkRequest,
  ): Promise<{ item: ItemDoc; created: boolean }> {
    const { item, other, ends } = await this.#resolveEnds(name, caller, request);
    const lease = await this.lease.renew(item, other, caller, request);
    const created = await this.#create(ends, { actor: caller.name, ...(lease !== null && { lease }) });
    if (created) await this.audit()?.record(principal, 'bug.linked', item.ref, { kind: request.kind, ref: other.ref });
    return { item: await this.items.get(item.id, caller), created };
  }

  /**
   * @throws ServiceError not_found, also for a missing link; validation_failed, claim_required,
   *   lease_lost
   */
  async remove(name: string, principal: Principal, caller: BugCaller, request: LinkRequest): Promise<ItemDoc> {
    const { item, other, ends } = await this.#resolveEnds(name, caller, request);
    const lease = await this.lease.renew(item, other, caller, request);
    await this.#delete(toLinkId(ends), { actor: caller.name, ...(lease !== null && { lease }) });
    await this.audit()?.record(principal, 'bug.unlinked', item.ref, { kind: request.kind, ref: other.ref });
    return this.items.get(item.id, caller);
  }

  async deleteItemLinks(itemId: string): Promise<void> {
    const links = await listItemLinks(this.links, itemId);
    for (const { kind, from, to, id } of links) {
      if (kind === 'blocks' && from === itemId) await this.blocking.reevaluate(to);
      await this.links.remove({ id });
    }
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const left = buildElapsedFilter('open_at', STALE_MARKER_MS, this.clock.now());
    for await (const links of iteratePages(this.links, {
      filter: left,
      sort: [['open_at', 'asc']],
      limit: BATCH_SIZE,
    })) {
      for (const link of links) await this.#complete(link);
      if (signal?.aborted === true) return;
    }
  }

  async #resolveEnds(
    name: string,
    caller: BugCaller,
    { kind, ref }: LinkRequest,
  ): Promise<{ item: ItemDoc; other: ItemDoc; ends: LinkEnds }> {
    const item = await this.items.get(name, caller);
    const other = await this.items.findVisible(ref, caller);
    if (other === null) throw invalid({ ref: 'item not found' });
    if (other.id === item.id) throw invalid({ ref: 'an item cannot be linked to itself' });
    return { item, other, ends: toLinkEnds(kind, item.id, other.id) };
  }

  async #create(ends: LinkEnds, by: LinkActor): Promise<boolean> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const link = await this.#request(ends, by);
      if (link === 'made') return false;
      const fault = link === 'busy' ? null : await this.#findFault(link);
      if (link !== 'busy' && fault === null) {
        const confirmed = { id: link.id, state: 'asked', open_at: link.open_at };
        const made = await this.links.change(confirmed, { set: { state: 'made' } });
        if (made !== null) {
          await this.#complete(made.doc);
          return true;
        }
      } else if (link !== 'busy') {
        await this.links.remove({ id: link.id, state: 'asked', open_at: link.open_at });
        if (fault !== null && fault.settled) throw toLinkError(fault.what);
      }
      await this.#wait(attempt);
    }
    throw conflict('Too many concurrent changes of these links; try again.');
  }

  /** Returns `made` when it exists, `busy` while another caller changes it. */
  async #request(ends: LinkEnds, by: LinkActor): Promise<(LinkDoc & { open_at: string }) | 'made' | 'busy'> {
    const links = this.links;
    const link = { id: toLinkId(ends), ...ends, state: 'asked' as const, ...this.#buildMarker(by) };
    try {
      await links.insert(link);
      return link;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
    const there = await links.get(link.id);
    if (there === null || !this.#canComplete(there)) return 'busy';
    if (there.open_at !== undefined) await this.#complete(there);
    return there.state === 'made' ? 'made' : 'busy';
  }

  /** An `asked` link only when it is stale. */
  #canComplete({ state, open_at = '' }: LinkDoc): boolean {
    const [at = ''] = open_at.split(' ');
    return state !== 'asked' || hasElapsed(at, STALE_MARKER_MS, this.clock.now());
  }

  #buildMarker(by: LinkActor): LinkActor & Pick<LinkDoc, 'created_at' | 'entries'> & { open_at: string } {
    const { clock, ids } = this;
    const at = clock.iso();
    const entries = { from: ids.uuid(), to: ids.uuid() };
    return { created_at: at, open_at: `${at} ${ids.uuid()}`, ...by, entries };
  }

  /** Returns null when the link may be made. `settled`: independent of `asked` links. */
  async #findFault(link: LinkDoc): Promise<{ what: LinkFault; settled: boolean } | null> {
    const { itemRows: items, links } = this;
    const both = await Promise.all([items.get(link.from), items.get(link.to)]);
    if (both.includes(null)) return { what: 'gone', settled: true };
    for (const end of [link.from, link.to]) {
      const all = (await listItemLinks(links, end)).filter(({ state }) => state !== 'leaving');
      const made = all.filter(({ state }) => state === 'made');
      if (all.length > MAX_LINKS) return { what: 'many', settled: made.length >= MAX_LINKS };
    }
    if (link.kind !== 'blocks') return null;
    const circle = await findBlockingCycle(links, link);
    return circle === 'none' ? null : { what: 'circle', settled: circle === 'made' };
  }

  async #delete(id: string, by: LinkActor): Promise<void> {
    const links = this.links;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const leaving = { state: 'leaving' as const, ...this.#buildMarker(by) };
      const { created_at: _, ...update } = leaving;
      const changed = await links.change({ id, state: 'made', open_at: null }, { set: update });
      if (changed !== null) return this.#complete(changed.doc);
      const there = await links.get(id);
      if (there === null || there.state === 'asked') break;
      await this.#complete(there);
    }
    throw notFound('such link');
  }

  async #complete(link: LinkDoc): Promise<void> {
    const links = this.links;
    const { id, state, open_at, kind, to } = link;
    if (open_at === undefined) return;
    if (state === 'asked') return void (await links.remove({ id, open_at }));
    if (state === 'leaving' && kind === 'blocks') await this.blocking.reevaluate(to);
    const isRecorded = (await this.#recordHistory(link, 'from')) && (await this.#recordHistory(link, 'to'));
    if (state === 'made' && kind === 'blocks') await this.blocking.reevaluate(to);
    if (state === 'leaving' || !isRecorded) await links.remove({ id, open_at });
    else await links.change({ id, open_at }, { unset: ['open_at', 'lease'] });
  }

  /** From then on a blocker reports when it ends. Returns false when the item is gone. */
  async #recordHistory(link: LinkDoc, end: 'from' | 'to'): Promise<boolean> {
    const { kind, state, actor, lease } = link;
    const other = await this.itemRows.get(end === 'from' ? link.to : link.from);
    const at = end === 'from' ? link.from : link.to;
    const entry = link.entries[end];
    try {
      await this.items.change(at, actor, async (item, change) => {
        if (lease !== undefined && item.claim?.token_hash === lease) change.by = 'holder';
        if (state === 'made' && kind === 'blocks' && end === 'from' && item.blocking !== true)
          change.assign({ blocking: true });
        const known = item.outbox.some(({ id }) => id === entry) || (await this.activity.get(entry)) !== null;
        if (known || other === null) return;
        // The reader may lack access to the other project.
        const named: { [key: string]: string } = other.project === item.project ? { ref: other.ref } : {};
        const details = { kind: end === 'from' ? kind : getInverseKind(kind), item_id: other.id, ...named };
        change.addHistoryEntry(state === 'made' ? 'link added' : 'link removed', details, entry);
      });
      return other !== null;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return false;
      throw error;
    }
  }

  async #wait(attempt: number): Promise<void> {
    const ms = this.random() * Math.min(MAX_WAIT_MS, 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function toLinkError(what: LinkFault): ServiceError {
  if (what === 'gone') return invalid({ ref: 'item not found' });
  if (what === 'many') return conflict(`An item can have at most ${MAX_LINKS} links.`);
  return conflict('Items cannot block each other in a cycle.');
}
