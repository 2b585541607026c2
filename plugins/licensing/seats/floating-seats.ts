/**
 * A machine has one lease, whose id derives from key and machine (contract 97, floating seats). A
 * seat is a number below the license's limit in a unique index, so machines never share one. The
 * machine that takes an ended lease's seat removes it. Every step is one compare-and-set write.
 */
import { inject, injectable, type Collection, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { DAY_MS, SECOND_MS } from '../../../lib/time.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import { StoreConflict, type Filter } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { findFreeNumber } from '../machines/machine-slots.js';
import { getActivationId, type Machine } from '../machines/machine-service.js';
import type { SeatLeaseDoc, LicenseDoc } from '../model/documents.js';
import { getLicenseTerms, getSeatLimit } from '../model/terms.js';
import { buildExpiredFilter, buildLiveFilter, isLeaseExpired, startLease } from './lease-times.js';

/** Losing more often indicates a defect, not contention. */
const MAX_SEAT_ATTEMPTS = 50;
/** For recognizing a repeated release. */
const RELEASED_RETENTION_MS = DAY_MS;

@injectable()
export class FloatingSeatService {
  readonly #mutex = new KeyedMutex();

  constructor(
    @inject(DEPS.leases) private readonly leases: Collection<SeatLeaseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
  ) {}

  countUsed(license: Pick<LicenseDoc, 'id'>): Promise<number> {
    return this.leases.count(this.#buildLiveFilter(license.id));
  }

  /** Lists by seat number. */
  listPage(
    license_id: string,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<ReadablePage<SeatLeaseDoc>> {
    const filter = this.#buildLiveFilter(license_id);
    return findReadable(this.leases, { filter, sort: [['seat_n', 'asc']], limit, after: cursor ?? null });
  }

  /** Returns whether the machine has a lease, or could take a seat. */
  async canTakeSeat(license: LicenseDoc, machine_id: string): Promise<boolean> {
    const held = await this.#getLease(license, machine_id);
    if (held !== null && isHeld(held) && !isLeaseExpired(held, this.clock)) return true;
    return !(await this.#isFull(license));
  }

  /**
   * Takes or renews the lease.
   * @returns null when no seat is free
   */
  async takeSeat(license: LicenseDoc, machine: Machine): Promise<SeatLeaseDoc | null> {
    const renewed = await this.#renewHeld(license, machine);
    if (renewed !== null) return renewed;
    // Most machines of a full license return here, without waiting for each other.
    if (await this.#isFull(license)) return this.#renewHeld(license, machine);
    return this.#mutex.run(license.id, () => this.#takeFreeSeat(license, machine));
  }

  async #takeFreeSeat(license: LicenseDoc, machine: Machine): Promise<SeatLeaseDoc | null> {
    for (let tries = 0; tries < MAX_SEAT_ATTEMPTS; tries++) {
      const known = await this.#getLease(license, machine.machine_id);
      const renewed = await this.#renew(license, machine, known);
      if (renewed !== null) return renewed;
      if (await this.#isFull(license)) return this.#renewHeld(license, machine);
      const seat_n = await this.#findSeat(license, tries === 0);
      const acquiredLease = seat_n === null ? null : await this.#write(license, machine, known, seat_n);
      if (acquiredLease !== null) return acquiredLease;
    }
    throw new Error(`no seat of license ${license.id} could be taken after ${MAX_SEAT_ATTEMPTS} attempts`);
  }

  async #isFull(license: LicenseDoc): Promise<boolean> {
    return (await this.countUsed(license)) >= getSeatLimit(license);
  }

  /** A concurrent request may have taken the last seat. */
  async #renewHeld(license: LicenseDoc, machine: Machine): Promise<SeatLeaseDoc | null> {
    return this.#renew(license, machine, await this.#getLease(license, machine.machine_id));
  }

  #getLease(license: LicenseDoc, machine_id: string): Promise<SeatLeaseDoc | null> {
    return this.leases.get(getActivationId(license, machine_id));
  }

  /**
   * Renews an ended one too, while no other machine has taken its seat.
   * @returns null without a seat, or when the license has fewer seats now
   */
  async #renew(license: LicenseDoc, machine: Machine, known: SeatLeaseDoc | null): Promise<SeatLeaseDoc | null> {
    if (known === null || !isHeld(known)) return null;
    const isExpired = isLeaseExpired(known, this.clock);
    if (known.seat_n >= getSeatLimit(license) || (isExpired && (await this.#isFull(license)))) {
      await this.#remove(known);
      return null;
    }
    const { machine_name, platform, app_version } = machine;
    const reportedFields = Object.entries({ machine_name, platform, app_version }).filter(
      ([, value]) => value !== null,
    );
    const set = { ...Object.fromEntries(reportedFields), ...this.#startLease(license) };
    const { id, lease_id, seat } = known;
    return (await this.leases.change({ id, lease_id, seat }, { set }))?.doc ?? null;
  }

  /** Without a lease, or with an ended one, which is removed. */
  async #findSeat({ id: license_id, ...license }: LicenseDoc, guess: boolean): Promise<number | null> {
    const { leases, clock } = this;
    const limit = getSeatLimit(license);
    const count = (from: number, to: number): Promise<number> =>
      leases.count({ license_id, seat_n: { gte: from, lt: to } });
    const free = await findFreeNumber(count, 0, limit, guess);
    if (free !== null) return free;
    const filter: Filter = { license_id, seat_n: { gte: 0, lt: limit }, ...buildExpiredFilter(clock) };
    const [ended] = (await leases.find({ filter, sort: [['seat_n', 'asc']], limit: 1 })).items;
    if (ended === undefined || !isHeld(ended)) return null;
    return (await this.#remove(ended)) ? ended.seat_n : null;
  }

  /** Returns null when the seat or the lease changed meanwhile. */
  async #write(
    license: LicenseDoc,
    machine: Machine,
    known: SeatLeaseDoc | null,
    seat_n: number,
  ): Promise<SeatLeaseDoc | null> {
    const { leases, clock, ids } = this;
    const seat = { seat: `${license.id} ${seat_n}`, seat_n };
    const fields = { ...machine, lease_id: ids.uuid(), taken_at: clock.iso(), ...this.#startLease(license), ...seat };
    const { id: license_id, product } = license;
    try {
      if (known === null) {
        const doc: SeatLeaseDoc = { id: getActivationId(license, machine.machine_id), license_id, product, ...fields };
        await leases.insert(doc);
        return doc;
      }
      const set = { ...fields, released_at: undefined };
      return (await leases.change(toSame(known), { set }))?.doc ?? null;
    } catch (error) {
      if (error instanceof StoreConflict) return null;
      throw error;
    }
  }

  #startLease(license: LicenseDoc): ReturnType<typeof startLease> {
    return startLease(this.clock, getLicenseTerms(license).lease_seconds * SECOND_MS);
  }

  async #remove(lease: SeatLeaseDoc): Promise<boolean> {
    return (await this.leases.remove(toSame(lease))) > 0;
  }

  /** @returns the lease, also when released before; null when it does not exist */
  async release(lease_id: string): Promise<SeatLeaseDoc | null> {
    const [lease] = (await this.leases.find({ filter: { lease_id }, limit: 1 })).items;
    return lease === undefined ? null : this.releaseLease(lease);
  }

  /** The released lease stays for a day, to recognize a repeat. */
  async releaseLease({ id, lease_id }: SeatLeaseDoc): Promise<SeatLeaseDoc | null> {
    const { leases, clock } = this;
    const set = { seat: undefined, seat_n: undefined, released_at: clock.iso() };
    const released = await leases.change({ id, lease_id, seat_n: { gte: 0 } }, { set });
    if (released !== null) return released.doc;
    const known = await leases.get(id);
    return known?.lease_id === lease_id ? known : null;
  }

  async removeReleased(): Promise<number> {
    const filter = buildElapsedFilter('released_at', RELEASED_RETENTION_MS, this.clock.now());
    return this.leases.remove(filter);
  }

  #buildLiveFilter(license_id: string): Filter {
    return { license_id, seat_n: { gte: 0 }, ...buildLiveFilter(this.clock) };
  }
}

const isHeld = (lease: SeatLeaseDoc): lease is SeatLeaseDoc & { seat: string; seat_n: number } =>
  lease.seat !== undefined && lease.seat_n !== undefined;

/** Neither renewed, released nor taken again since. */
const toSame = ({ id, lease_id, seat, renewed_at }: SeatLeaseDoc): Filter => ({
  id,
  lease_id,
  seat: seat ?? null,
  renewed_at,
});
