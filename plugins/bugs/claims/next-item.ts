/**
 * Reserves the most urgent item (contract 20, leases: `action=next`). One conditional write
 * decides, so exactly one parallel caller gets it.
 */
import { inject, injectable, type HttpRequest } from '../../../kernel/contract/index.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { buildQueueClaim } from '../item/change-set.js';
import { resolveAgentName, getLeaseHolder, createClaimLease } from '../item/lease.js';
import {
  narrowToAny,
  excludeReleasedBy,
  filterByTarget,
  findSoleTarget,
  getQueueRange,
  excludeAssigned,
} from '../item/queue-filters.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { SecretGuard } from '../store/secret-guard.js';
import { ClaimableItemNotifier } from './claimable-item-notifier.js';
import { LeaseExpiryRecorder } from './lease-expiry.js';
import { HandoverBuilder, type Handover } from './handover.js';
import type { GrantedLease, LeaseRequest } from './leases.js';
import { ClaimQuota, type ClaimSlot } from './claim-quota.js';
import { WaitingItemCounter, type WaitingItems } from './waiting-items.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_ATTEMPTS = 3;

export interface NextRequest extends LeaseRequest {
  wait_seconds?: number | undefined;
}

export interface NextItemResult extends GrantedLease {
  handover: Handover;
}

export interface NoItemResult {
  item: null;
  waiting: WaitingItems;
}

interface ReservedItem {
  item: ItemDoc;
  lease: GrantedLease['lease'];
}

/** Not the signal itself, which is created on access. */
type WaitingCall = Pick<HttpRequest, 'waiting' | 'reauthorize'>;

interface Claimant {
  agent: string;
  holder: string;
  lease_seconds: number | undefined;
}

const getReservedId = (reserved: ReservedItem | null): string | null => reserved && reserved.item.id;

@injectable()
export class NextItemService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(LeaseExpiryRecorder) private readonly expiry: LeaseExpiryRecorder,
    @inject(ClaimQuota) private readonly quota: ClaimQuota,
    @inject(HandoverBuilder) private readonly handovers: HandoverBuilder,
    @inject(WaitingItemCounter) private readonly waiting: WaitingItemCounter,
    @inject(ClaimableItemNotifier) private readonly arrivals: ClaimableItemNotifier,
  ) {}

  /**
   * If none is available, returns how many items wait and why.
   * @param filter of the caller's query
   * @param call ends the wait when the client disconnects
   * @throws ServiceError too_many_claims, insufficient_scope, validation_failed
   */
  async reserveNext(
    caller: BugCaller,
    request: NextRequest,
    filter: Filter,
    call?: WaitingCall,
  ): Promise<NextItemResult | NoItemResult> {
    await this.secrets.rejectSecrets({ agent: request.agent });
    const agent = resolveAgentName(caller, request.agent) ?? findSoleTarget(filter) ?? caller.name;
    const holder = getLeaseHolder({ credential: caller.id, agent });
    const claimant = { agent, holder, lease_seconds: request.lease_seconds };
    const clock = this.clock;
    const until = clock.monotonic() + (request.wait_seconds ?? 0) * 1000;
    for (;;) {
      const reserved = await this.#reserve(caller, claimant, filter);
      if (reserved !== null)
        return { lease: reserved.lease, ...(await this.handovers.buildClaimDetails(reserved.item)) };
      const left = until - clock.monotonic();
      if (left <= 0) break;
      const rang = await this.arrivals.waitForNext(left, call?.waiting);
      // The wait may outlast the caller's rights.
      await call?.reauthorize();
      if (!rang) break;
    }
    return { item: null, waiting: await this.waiting.count(filter, agent, holder) };
  }

  #reserve(caller: BugCaller, claimant: Claimant, filter: Filter): Promise<ReservedItem | null> {
    const { agent, holder } = claimant;
    const claim = (slot: ClaimSlot): Promise<ReservedItem | null> => this.#reserveFirst(caller, claimant, filter, slot);
    return this.quota.claimWithinQuota({ credential: caller.id, agent, key: holder }, claim);
  }

  async #reserveFirst(
    caller: BugCaller,
    claimant: Claimant,
    filter: Filter,
    slot: ClaimSlot,
  ): Promise<ReservedItem | null> {
    await this.expiry.writeExpired();
    const { items, ids } = this;
    const { agent, holder } = claimant;
    const secret = ids.secret();
    const unfiled = { id: ids.uuid(), actor: caller.name };
    const first = (): Promise<ReservedItem | null> =>
      this.watermark.write(getReservedId, async (stamp, now) => {
        const claim = {
          ...createClaimLease(caller, claimant, secret, now, this.expiry.createClockStamp(now)),
          ...slot,
        };
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
        excludeReleasedBy(holder, this.clock.iso()),
      );
    let fetched = await first();
    for (let tries = 0; fetched === null && tries < MAX_ATTEMPTS && (await this.expiry.expireMatching(fits())); tries++)
      fetched = await first();
    return fetched;
  }
}
