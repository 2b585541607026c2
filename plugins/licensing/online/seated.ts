import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import type { LicensedMachines, Machine, Seat } from '../machines/machines.js';
import type { ActivationDoc, ActivationState, LicenseDoc } from '../model/documents.js';

export interface SeatResult {
  status: LicenseStatus;
  activation: {
    max: number | null;
    status: ActivationState | null;
    used: number;
  };
}

export const SEAT_STATUSES: Readonly<Record<Seat, LicenseStatus>> = {
  active: 'active',
  pending: 'machine_pending',
  blocked: 'machine_blocked',
  limit: 'machine_limit',
};

/**
 * @param known the machine's activation as it was read
 * @param takes false only previews the seat
 */
export async function resolveSeat(
  machines: LicensedMachines,
  license: LicenseDoc,
  machine: Machine,
  { known, takes }: { known: ActivationDoc | null; takes: boolean },
): Promise<SeatResult> {
  const holds = known?.status === 'active';
  const [seat, counted] = await Promise.all([
    takes ? machines.take(license, machine, known) : machines.look(license, known),
    // A machine with a slot takes none, so the count is read concurrently.
    holds ? machines.used(license) : null,
  ]);
  const used = counted ?? (await machines.used(license));
  const status = seat === 'limit' || (seat === 'active' && !holds && !takes) ? null : seat;
  return { status: SEAT_STATUSES[seat], activation: { max: license.max_activations, status, used } };
}
