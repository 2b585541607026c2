/**
 * Each has one activation, whose id derives from key and machine, and at most one slot (contract
 * 50, license). Every step is one compare-and-set write.
 */
import { hash } from 'node:crypto';
import { inject, injectable, type Collection, type Clock, type Ids } from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { iterateItems } from '../../../lib/paging.js';
import { DAY_MS, MINUTE_MS, toIsoString } from '../../../lib/time.js';
import { LICENSE_MACHINE_PENDING } from '../../../ports/domain/licensing.js';
import { StoreConflict, type Filter } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { toEventData } from '../model/view.js';
import type { ActivationDoc, ActivationState, LicenseDoc, LicensingOutboxEntry } from '../model/documents.js';
import { formatOutboxPosition } from '../../../lib/outbox.js';
import { ACTIVATION_OUTBOX, type LicensingOutbox } from '../outbox.js';
import { MachineSlots, type MachineSlot, type SlotKind } from './machine-slots.js';

export const INACTIVE_AFTER_MS = 90 * DAY_MS;
const LAST_SEEN_INTERVAL_MS = MINUTE_MS;
/** Losing more often indicates a defect, not contention. */
const MAX_SEAT_ATTEMPTS = 50;

export interface Machine {
  machine_id: string;
  machine_name: string | null;
  platform: string | null;
  app_version: string | null;
}

export type SeatState = 'active' | 'pending' | 'blocked' | 'limit';

export const getActivationId = ({ key_sha256 }: Pick<LicenseDoc, 'key_sha256'>, machine_id: string): string =>
  hash('sha256', `${key_sha256}\n${machine_id}`, 'hex').slice(0, 32);

@injectable()
export class MachineService {
  readonly #mutex = new KeyedMutex();

  constructor(
    @inject(DEPS.activations) private readonly activations: Collection<ActivationDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(ACTIVATION_OUTBOX) private readonly outbox: LicensingOutbox<ActivationDoc>,
  ) {}

  find(license: LicenseDoc, machine_id: string): Promise<ActivationDoc | null> {
    return this.activations.get(getActivationId(license, machine_id));
  }

  countUsed(license: LicenseDoc): Promise<number> {
    return new MachineSlots(this.activations, license, 'active').countUsed();
  }

  async previewSeat(license: LicenseDoc, known: ActivationDoc | null): Promise<SeatState> {
    if (known !== null && known.status !== 'released') return known.status;
    return (await new MachineSlots(this.activations, license, 'active').findFree(true)) === null ? 'limit' : 'active';
  }

  /**
   * For a free slot the first writer wins.
   * @param known the activation as read
   */
  async takeSeat(license: LicenseDoc, machine: Machine, known: ActivationDoc | null): Promise<SeatState> {
    if (known?.status === 'blocked') return 'blocked';
    if (known?.status === 'active') {
      await this.#updateLastSeen(known, machine);
      return 'active';
    }
    // Most machines of a full license return here, without waiting for each other.
    if ((await new MachineSlots(this.activations, license, 'active').findFree(true)) === null)
      return this.#takePendingSeat(license, machine, known);
    return this.#mutex.run(license.id, () => this.#takeFreeSeat(license, machine));
  }

  async #takeFreeSeat(license: LicenseDoc, machine: Machine): Promise<SeatState> {
    const places = new MachineSlots(this.activations, license, 'active');
    for (let tries = 0; tries < MAX_SEAT_ATTEMPTS; tries++) {
      const known = await this.find(license, machine.machine_id);
      if (known?.status === 'active' || known?.status === 'blocked') return known.status;
      const place = await places.findFree(tries === 0);
      if (place === null) return this.#takePendingSeat(license, machine, known);
      if (await this.#write(license, machine, known, 'active', place)) return 'active';
    }
    throw new Error(`no seat of license ${license.id} could be taken after ${MAX_SEAT_ATTEMPTS} attempts`);
  }

  /** Over the limit, if the license allows approval. */
  async #takePendingSeat(license: LicenseDoc, machine: Machine, first: ActivationDoc | null): Promise<SeatState> {
    const places = new MachineSlots(this.activations, license, 'pending');
    let known = first;
    for (let tries = 0; tries < MAX_SEAT_ATTEMPTS; tries++) {
      if (known?.status === 'pending') {
        await this.#updateLastSeen(known, machine);
        return 'pending';
      }
      if (known?.status === 'active' || known?.status === 'blocked') return known.status;
      if (!license.require_approval) return 'limit';
      const place = await places.findFree(tries === 0);
      if (place === null) return 'limit';
      if (await this.#write(license, machine, known, 'pending', place)) return 'pending';
      known = await this.find(license, machine.machine_id);
    }
    throw new Error(`no pending seat of license ${license.id} could be taken after ${MAX_SEAT_ATTEMPTS} attempts`);
  }

  /** False when the slot or the machine was taken meanwhile. */
  async #write(
    license: LicenseDoc,
    machine: Machine,
    known: ActivationDoc | null,
    status: SlotKind,
    place: MachineSlot,
  ): Promise<boolean> {
    const now = this.clock.iso();
    const entry = status === 'pending' ? this.#buildPendingEvent(license) : null;
    const fields = { ...machine, status, last_seen: now, ...place };
    try {
      if (known === null) {
        const outbox = entry === null ? [] : [entry];
        const outbox_at = entry === null ? null : formatOutboxPosition(entry);
        const doc: ActivationDoc = {
          id: getActivationId(license, machine.machine_id),
          license_id: license.id,
          product: license.product,
          first_seen: now,
          ...fields,
          outbox,
          outbox_at,
        };
        await this.activations.insert(doc);
        this.outbox.send(doc);
        return true;
      }
      const changed = await this.activations.change(
        { id: known.id, status: known.status, slot: known.slot ?? null },
        {
          set: { ...fields, ...(entry !== null && { outbox_at: formatOutboxPosition(entry) }) },
          ...(entry !== null && { push: { outbox: { each: [entry] } } }),
        },
      );
      if (changed !== null) this.outbox.send(changed.doc);
      return changed !== null;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  #buildPendingEvent(license: LicenseDoc): LicensingOutboxEntry {
    const { ids, clock } = this;
    const data = toEventData(license, clock.now());
    return { id: `evt_${ids.uuid()}`, event: LICENSE_MACHINE_PENDING.event, at: clock.iso(), data };
  }

  async #updateLastSeen(known: ActivationDoc, machine: Machine): Promise<void> {
    const { clock, activations } = this;
    if (!hasElapsed(known.last_seen, LAST_SEEN_INTERVAL_MS, clock.now())) return;
    const { machine_name, platform, app_version } = machine;
    const reportedFields = Object.entries({ machine_name, platform, app_version }).filter(
      ([, value]) => value !== null,
    );
    const set = { ...Object.fromEntries(reportedFields), last_seen: clock.iso() };
    await activations.change({ id: known.id, last_seen: known.last_seen }, { set });
  }

  async retainUntil(activation: string, file_until: string): Promise<boolean> {
    const update = { max: { file_until } };
    return (await this.activations.change({ id: activation, status: 'active' }, update)) !== null;
  }

  /**
   * For a pending or blocked machine, beyond the maximum if necessary.
   * @returns null when its state differs
   */
  async approve(license: LicenseDoc, activation: ActivationDoc): Promise<ActivationDoc | null> {
    const places = new MachineSlots(this.activations, license, 'active');
    for (let tries = 0; tries < MAX_SEAT_ATTEMPTS; tries++) {
      const place = (await places.findFree(tries === 0)) ?? (await places.findBeyondMaximum());
      if (place === null) return null;
      try {
        return await this.updateStatus(activation, ['pending', 'blocked'], { status: 'active', ...place });
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
      }
    }
    return null;
  }

  /**
   * Moves to a state without a slot.
   * @returns null when its state is not in `from`, or a file was issued meanwhile
   */
  vacate(
    activation: ActivationDoc,
    from: readonly ActivationState[],
    status: 'released' | 'blocked',
  ): Promise<ActivationDoc | null> {
    return this.updateStatus(activation, from, { status, slot: undefined, slot_n: undefined });
  }

  async updateStatus(
    { id, file_until }: Pick<ActivationDoc, 'id' | 'file_until'>,
    from: readonly ActivationState[],
    set: { status: ActivationState; slot?: string | undefined; slot_n?: number | undefined },
  ): Promise<ActivationDoc | null> {
    const same = { id, status: { in: from }, file_until: file_until ?? null };
    return (await this.activations.change(same, { set }))?.doc ?? null;
  }

  getRetainedUntil({ file_until, status }: ActivationDoc): string | null {
    const isRetained = status === 'active' && file_until !== undefined && Date.parse(file_until) > this.clock.now();
    return isRetained ? file_until : null;
  }

  async releaseUnseen(signal?: AbortSignal): Promise<number> {
    const { activations, clock } = this;
    const before = toIsoString(clock.now() - INACTIVE_AFTER_MS);
    let n = 0;
    for (const status of ['active', 'pending'] as const) {
      const filter: Filter = { status, last_seen: { lt: before } };
      for await (const activation of iterateItems(activations, { filter, sort: [['last_seen', 'asc']], limit: 200 })) {
        if (signal?.aborted === true) return n;
        if (this.getRetainedUntil(activation) !== null) continue;
        const same = { id: activation.id, status, last_seen: activation.last_seen };
        const released = { set: { status: 'released', slot: undefined, slot_n: undefined } };
        if ((await activations.change(same, released)) !== null) n++;
      }
    }
    return n;
  }
}
