import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import type { MachineService, Machine, SeatState } from '../machines/machine-service.js';
import type { ActivationDoc, ActivationState, LicenseDoc } from '../model/documents.js';

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
 * @param known the machine's activation as it was read
 * @param takes false only previews the seat
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
    // A machine with a slot takes none, so the count is read concurrently.
    holds ? machines.countUsed(license) : null,
  ]);
  const used = counted ?? (await machines.countUsed(license));
  const status = seat === 'limit' || (seat === 'active' && !holds && !takes) ? null : seat;
  return { status: SEAT_STATUSES[seat], activation: { max: license.max_activations, status, used } };
}
