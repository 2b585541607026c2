import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import type { MachineService, Machine, SeatState } from '../machines/machine-service.js';
import type { FloatingSeatService } from '../seats/floating-seats.js';
import type { ActivationDoc, ActivationState, SeatLeaseDoc, LicenseDoc } from '../model/documents.js';

export interface FloatingSeatResult {
  status: 'active' | 'no_seat_free' | 'machine_blocked';
  lease: { expires_at: string; id: string } | null;
  seats: { max: number | null; used: number };
}

/**
 * @param machine null takes no seat
 * @param blocked by an administrator
 * @param takes false only previews
 */
export async function resolveFloatingSeat(
  seats: FloatingSeatService,
  license: LicenseDoc,
  machine: Machine | null,
  { blocked, takes }: { blocked: boolean; takes: boolean },
): Promise<FloatingSeatResult> {
  let status: FloatingSeatResult['status'] = blocked ? 'machine_blocked' : 'active';
  let lease: SeatLeaseDoc | null = null;
  if (machine !== null && !blocked) {
    lease = takes ? await seats.takeSeat(license, machine) : null;
    const isSeated = takes ? lease !== null : await seats.canTakeSeat(license, machine.machine_id);
    if (!isSeated) status = 'no_seat_free';
  }
  const used = await seats.countUsed(license);
  return {
    status,
    lease: lease === null ? null : { expires_at: lease.expires_at, id: lease.lease_id },
    seats: { max: license.max_activations, used },
  };
}

export interface SeatResult {
  status: LicenseStatus;
  activation: {
    max: number | null;
    status: ActivationState | null;
    used: number;
  };
}

export const SEAT_STATUSES: Readonly<Record<SeatState, LicenseStatus>> = {
  active: 'active',
  pending: 'machine_pending',
  blocked: 'machine_blocked',
  limit: 'machine_limit',
};

/**
 * @param known activation as read
 * @param takes false only previews
 */
export async function resolveSeat(
  machines: MachineService,
  license: LicenseDoc,
  machine: Machine,
  { known, takes }: { known: ActivationDoc | null; takes: boolean },
): Promise<SeatResult> {
  const holds = known?.status === 'active';
  const [seat, counted] = await Promise.all([
    takes ? machines.takeSeat(license, machine, known) : machines.previewSeat(license, known),
    // A machine with a slot takes none, so the count is concurrent.
    holds ? machines.countUsed(license) : null,
  ]);
  const used = counted ?? (await machines.countUsed(license));
  const status = seat === 'limit' || (seat === 'active' && !holds && !takes) ? null : seat;
  return { status: SEAT_STATUSES[seat], activation: { max: license.max_activations, status, used } };
}
