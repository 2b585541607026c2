/**
 * `action=next`: reserves the most urgent item (contract 20, leases). A single conditional write
 * decides, so exactly one of several parallel callers gets it.
 */
import { inject, injectable, type HttpRequest } from '../../../kernel/contract.js';
import type { Filter } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { buildQueueClaim } from '../item/change-set.js';
import { resolveAgentName, getLeaseHolder, createClaimLease } from '../item/lease.js';
import {
  narrowToAny,
  excludeReleasedBy,
  filterByTarget,
  findSoleTarget,
  getQueueRange,
  excludeAssigned,
} from '../item/queue.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { SecretGuard } from '../store/secret-guard.js';
import { Arrivals } from './arrivals.js';
import { Expiry } from './expiry.js';
import { Handovers, type Handover } from './handover.js';
import type { Granted, LeaseRequest } from './leases.js';
import { ClaimQuota, type ClaimSlot } from './quota.js';
import { WaitingCounts, type WaitingItems } from './waiting.js';

const TRIES = 3;

export interface NextRequest extends LeaseRequest {
  wait_seconds?: number | undefined;
}

export interface Handed extends Granted {
  handover: Handover;
}

export interface Nothing {
  item: null;
  waiting: WaitingItems;
}

interface Reserved {
  item: ItemDoc;
  lease: Granted['lease'];
}

/** The request, not its signal: a signal is created on access, and few claims wait. */
type Call = Pick<HttpRequest, 'waiting' | 'reauthorize'>;

interface Claimant {
  agent: string;
  holder: string;
  lease_seconds: number | undefined;
}

const claimedId = (reserved: Reserved | null): string | null => reserved && reserved.item.id;

@injectable()
export class NextItem {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(Expiry) private readonly expiry: Expiry,
    @inject(ClaimQuota) private readonly quota: ClaimQuota,
    @inject(Handovers) private readonly handovers: Handovers,
    @inject(WaitingCounts) private readonly waiting: WaitingCounts,
    @inject(Arrivals) private readonly arrivals: Arrivals,
  ) {}

  /**
   * Reserves the next item. If none is available, returns how many items wait and why.
   * @param filter of the caller's query
   * @param call ends the wait when the client disconnects
   * @throws ServiceError too_many_claims, insufficient_scope, validation_failed
   */
  async next(caller: BugCaller, request: NextRequest, filter: Filter, call?: Call): Promise<Handed | Nothing> {
    await this.secrets.refuse({ agent: request.agent });
    const agent = resolveAgentName(caller, request.agent) ?? findSoleTarget(filter) ?? caller.name;
    const holder = getLeaseHolder({ credential: caller.id, agent });
    const claimant = { agent, holder, lease_seconds: request.lease_seconds };
    const { clock } = this.deps;
    const until = clock.monotonic() + (request.wait_seconds ?? 0) * 1000;
    for (;;) {
      const reserved = await this.#reserve(caller, claimant, filter);
      if (reserved !== null) return { lease: reserved.lease, ...(await this.handovers.answerOf(reserved.item)) };
      const left = until - clock.monotonic();
      if (left <= 0) break;
      const rang = await this.arrivals.next(left, call?.waiting);
      // The caller's rights may have been revoked during the wait.
      await call?.reauthorize();
      if (!rang) break;
    }
    return { item: null, waiting: await this.waiting.of(filter, agent, holder) };
  }

  #reserve(caller: BugCaller, claimant: Claimant, filter: Filter): Promise<Reserved | null> {
    const { agent, holder } = claimant;
    const claim = (slot: ClaimSlot): Promise<Reserved | null> => this.#first(caller, claimant, filter, slot);
    return this.quota.within({ credential: caller.id, agent, key: holder }, claim);
  }

  async #first(caller: BugCaller, claimant: Claimant, filter: Filter, slot: ClaimSlot): Promise<Reserved | null> {
    await this.expiry.writeExpired();
    const { items, ids } = this.deps;
    const { agent, holder } = claimant;
    const secret = ids.secret();
    const unfiled = { id: ids.uuid(), actor: caller.name };
    const first = (): Promise<Reserved | null> =>
      this.watermark.write(claimedId, async (stamp, now) => {
        const claim = { ...createClaimLease(caller, claimant, secret, now, this.expiry.mark(now)), ...slot };
        const served = { ...filterByTarget(agent, filter), ...excludeAssigned(filter) };
        const queue = { ...filter, severity_rank: undefined, ...served, queue_key: getQueueRange(filter) };
        const waiting = narrowToAny(queue, excludeReleasedBy(holder, stamp));
        const update = buildQueueClaim(claim, unfiled);
        const changed = await items.change(waiting, update, { sort: [['queue_key', 'asc']] });
        if (changed === null) return null;
        const { expires_at, lease_seconds } = claim;
        return { item: changed.doc, lease: { claim_token: secret, expires_at, lease_seconds } };
      });
    const fits = (): Filter =>
      narrowToAny(
        { ...filter, ...filterByTarget(agent, filter), ...excludeAssigned(filter), muted: false },
        excludeReleasedBy(holder, this.deps.clock.iso()),
      );
    let fetched = await first();
    for (let tries = 0; fetched === null && tries < TRIES && (await this.expiry.free(fits())); tries++)
      fetched = await first();
    return fetched;
  }
}
