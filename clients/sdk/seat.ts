/**
 * Holds a seat of a floating license while the program runs (contract 97, floating seats): takes
 * it, renews its lease, and releases it at exit.
 */
import type { ClientContext } from './context.js';
import { validateLicense, type LicenseCheck, type LicenseQuestion } from './license.js';
import { unrefTimer } from './runtime.js';

export interface SeatOptions extends Pick<LicenseQuestion, 'machineId'> {
  /** Called after a renewal that changes `status`, `valid` or the lease. */
  onChange?: (license: LicenseCheck) => void;
}

export interface HeldSeat {
  /** The latest result. Without a free seat the client tries again every minute. */
  readonly license: LicenseCheck;
  /** Stops renewing and gives the seat back. Never rejects. */
  release: () => Promise<void>;
}

const RELEASE_PATH = '/api/license/v1/validate/release';
/** Interval without a lease: no free seat, or no answer. */
const RETRY_MS = 60_000;
const MIN_RENEWAL_MS = 1_000;

/** Resolves after the first validation. */
export async function holdSeat(context: ClientContext, key: string, options: SeatOptions = {}): Promise<HeldSeat> {
  const { machineId, onChange } = options;
  const question = machineId === undefined ? {} : { machineId };
  let license = await validateLicense(context, key, question);
  let lease = license.lease ?? null;
  let renewal: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let released: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const before = license;
    license = await validateLicense(context, key, question);
    // Without an answer the lease remains until it ends.
    if (!license.isTransient) lease = license.lease ?? null;
    if (getSeatState(before) === getSeatState(license)) return;
    try {
      onChange?.(license);
    } catch {
      // Errors of the application's listener must not stop the renewals.
    }
  }
  function schedule(): void {
    if (released !== null) return;
    timer = setTimeout(
      () => {
        renewal = renew().finally(() => {
          renewal = null;
          schedule();
        });
      },
      getRenewalDelay(license, context.now()),
    );
    unrefTimer(timer);
  }
  async function giveBack(): Promise<void> {
    clearTimeout(timer);
    removeHandler();
    // A renewal that is on its way may take the seat again.
    await renewal;
    if (lease !== null) await context.ask('POST', RELEASE_PATH, { body: { lease_id: lease.id } });
  }
  const release = (): Promise<void> => (released ??= giveBack());
  const removeHandler = context.host.runAtExit(release);
  schedule();
  return {
    get license() {
      return license;
    },
    release,
  };
}

const getSeatState = ({ status, valid, lease }: LicenseCheck): string => JSON.stringify([status, valid, lease?.id]);

/** Renews after a third of the remaining time, so that two failed renewals do not lose the seat. */
function getRenewalDelay({ lease }: LicenseCheck, now: number): number {
  const left = lease === undefined || lease === null ? NaN : Date.parse(lease.expiresAt) - now;
  return Number.isNaN(left) ? RETRY_MS : Math.min(Math.max(left / 3, MIN_RENEWAL_MS), RETRY_MS * 60);
}
