/** Validates and deactivates licenses and issues license files for applications (contract 50). */
import { inject, injectable, type Principal, type Collection, type Clock } from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, toIsoString } from '../../../lib/time.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { DEPS } from '../deps.js';
import { isValidStatus, type LicenseStatus } from '../../../lib/formats/license-status.js';
import { normalizeLicenseKey, isKey, hashKey } from '../model/key.js';
import { LicenseKeyLookup } from '../licenses/key-lookup.js';
import { LicenseService } from '../licenses/license-service.js';
import { getLicenseState, type LicenseState } from '../model/states.js';
import { parseFeatures } from '../model/view.js';
import { getActivationId, MachineService, type Machine } from '../machines/machine-service.js';
import type { ActivationDoc, LicenseDoc } from '../model/documents.js';
import { getGraceEnd, listCurrentEntitlements } from '../model/terms.js';
import { FloatingSeatService } from '../seats/floating-seats.js';
import { evaluateLicense, STATUS_MESSAGES, type LicenseVerdict } from './license-status.js';
import { fileBody } from './request-schemas.js';
import {
  resolveFloatingSeat,
  resolveSeat,
  SEAT_STATUSES,
  type FloatingSeatResult,
  type SeatResult,
} from './seat-resolver.js';
import { LicenseSigningService } from './license-signer.js';
import type { MachineInventory } from '../../../ports/domain/machines/inventory.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

const MAX_RECORDED_VALIDATIONS = 10_000;
const DEFAULT_FILE_DAYS = 30;

export interface MachineDetails {
  product: string;
  machine_id?: string | null;
  machine_name?: string | null;
  app_version?: string | null;
  platform?: string | null;
  machine_unstable?: boolean;
  nonce?: string | null;
}

export interface ValidationRequest extends MachineDetails {
  license_key: string;
}

/** As entered, or its lower-case SHA-256 where the key must not appear. */
type KeyReference = string | { sha256: string };

/** Or the state that forbids it. */
export type IssuedFile = { text: string } | { status: LicenseStatus | 'floating' };

interface LookupResult {
  sha256: string;
  license: LicenseDoc | null;
  activation: ActivationDoc | null;
}

const UNSTABLE_MACHINE_WARNING = 'machine_id_unstable: no seat was taken; set a permanent machine ID (SVC_MACHINE_ID)';

@injectable()
export class LicenseValidator {
  readonly #recordedValidations: BoundedMap<true>;

  constructor(
    @inject(DEPS.licenses) private readonly licenseRows: Collection<LicenseDoc>,
    @inject(DEPS.activations) private readonly activations: Collection<ActivationDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.audit) private readonly audit: AuditLog,
    @inject(DEPS.machines) private readonly machinesPort: () => MachineInventory | undefined,
    @inject(LicenseService) private readonly licenses: LicenseService,
    @inject(LicenseKeyLookup) private readonly keys: LicenseKeyLookup,
    @inject(MachineService) private readonly machines: MachineService,
    @inject(FloatingSeatService) private readonly seats: FloatingSeatService,
    @inject(LicenseSigningService) private readonly signing: LicenseSigningService,
  ) {
    this.#recordedValidations = new BoundedMap({
      most: MAX_RECORDED_VALIDATIONS,
      ttlMs: MINUTE_MS,
      now: () => clock.monotonic(),
    });
  }

  /**
   * Returns a signed answer.
   * @param takesSeat false checks only (GET)
   * @param warnings about ignored parameters; signed, absent when empty
   */
  async validate(
    key: KeyReference,
    question: MachineDetails,
    { takesSeat, warnings }: { takesSeat: boolean; warnings: readonly string[] },
  ): Promise<object> {
    const { product, nonce = null } = question;
    const machine_id = question.machine_id ?? null;
    const isUnstable = question.machine_unstable === true;
    const { sha256, license, activation } = await this.#find(key, machine_id);
    const now = this.clock.now();
    const verdict = evaluateLicense(license, product, now);
    let seated: SeatResult | null = null;
    let floating: FloatingSeatResult | null = null;
    if (license !== null && isValidStatus(verdict) && license.floating === true) {
      const machine = machine_id === null ? null : toMachine(question, machine_id);
      const blocked = activation?.status === 'blocked';
      await this.#recordValidation(license, question.app_version ?? null);
      floating = await resolveFloatingSeat(this.seats, license, machine, { blocked, takes: takesSeat });
    } else if (license !== null && isValidStatus(verdict)) {
      // A machine without a stable id takes no seat; a blocked one stays blocked.
      const takes = takesSeat && !isUnstable;
      const isJudged = machine_id !== null && (!isUnstable || activation !== null);
      const machine = isJudged ? toMachine(question, machine_id) : null;
      const seat = machine === null ? null : resolveSeat(this.machines, license, machine, { known: activation, takes });
      const noted = this.#recordValidation(license, question.app_version ?? null);
      seated = noted === null ? await seat : (await Promise.all([seat, noted]))[0];
    }
    const seatStatus = (floating ?? seated)?.status ?? 'active';
    const status = seatStatus === 'active' ? verdict : seatStatus;
    const valid = isValidStatus(status);
    if (valid && takesSeat && !isUnstable && license !== null && machine_id !== null)
      this.#recordMachine(license, toMachine(question, machine_id));
    const notes = isUnstable && valid && floating === null ? [...warnings, UNSTABLE_MACHINE_WARNING] : warnings;
    // For another product, only the license's state.
    const disclosedLicense = license?.product === product ? license : null;
    const cache_ttl_hours = disclosedLicense === null ? 0 : await this.licenses.getCacheTtlHours(product);
    const entitlements = disclosedLicense === null ? [] : listCurrentEntitlements(disclosedLicense, now);
    const graceEnd = disclosedLicense === null ? null : getGraceEnd(disclosedLicense);
    return this.signing.signAnswer(({ alg, kid }) => ({
      activation: seated?.activation ?? null,
      alg,
      cache_ttl_hours,
      checked_at: toIsoString(now),
      ...(entitlements.length > 0 && { entitlements }),
      expires_at: disclosedLicense?.expires_at ?? null,
      features: disclosedLicense === null ? null : parseFeatures(disclosedLicense),
      ...(graceEnd !== null && { grace_until: graceEnd }),
      key_sha256: sha256,
      kid,
      ...(floating !== null && { lease: floating.lease }),
      licensee: disclosedLicense?.licensee ?? null,
      machine_id,
      message: STATUS_MESSAGES[status],
      nonce,
      product,
      ...(floating !== null && { seats: floating.seats }),
      status,
      valid,
      ...(notes.length > 0 && { warnings: notes }),
    }));
  }

  #recordMachine({ id, product }: LicenseDoc, { machine_id, machine_name, app_version, platform }: Machine): void {
    const about = { name: machine_name, version: app_version, channel: null, platform, license_id: id };
    this.machinesPort()?.record({ source: 'activation', project: product, key: machine_id, ...about });
  }

  async deactivate(
    principal: Principal,
    { license_key, product, machine_id, reason, permanent }: DeactivationRequest,
  ): Promise<DeactivationResult | null> {
    const { license, activation } = await this.#find(license_key, machine_id ?? null);
    if (license === null) return null;
    if (product !== undefined && product !== license.product) return { refused: 'product_mismatch' };
    if (license.status === 'pending') return { refused: 'invalid_transition' };
    if (machine_id !== undefined && machine_id !== null) {
      const left = activation === null ? null : await this.#release(principal, license, activation, reason);
      const status = getLicenseState(license, this.clock.now());
      const released = left?.status === 'released';
      return { status, released, ...(!released && { reason: getRejectionReason(left) }), activation: left };
    }
    const status = await this.#deactivateLicense(principal, license, permanent === true, reason);
    return { status, released: true, activation: null };
  }

  /**
   * Returns the state that forbids it, otherwise the file.
   * @throws ServiceError validation_failed
   */
  async issueRequestedFile(question: ValidationRequest & { valid_days?: number | undefined }): Promise<IssuedFile> {
    const { product, valid_days = DEFAULT_FILE_DAYS } = question;
    const machine_id = question.machine_id ?? null;
    const { license, activation } = await this.#find(question.license_key, machine_id);
    const now = this.clock.now();
    const verdict = evaluateLicense(license, product, now);
    const rejected = findFileRejection(license, verdict);
    if (license === null || rejected !== null) return { status: rejected ?? 'invalid' };
    return this.issueFile(
      license,
      machine_id === null ? null : toMachine(question, machine_id),
      valid_days,
      activation,
    );
  }

  /** @throws ServiceError validation_failed */
  async issueFileFor(
    license: LicenseDoc,
    machine_id: string | null,
    valid_days = DEFAULT_FILE_DAYS,
  ): Promise<IssuedFile> {
    const given = {
      license_key: '',
      product: license.product,
      machine_id,
      valid_days: valid_days || DEFAULT_FILE_DAYS,
    };
    const { error } = fileBody.validate(given, { errors: { label: false } });
    if (error !== undefined) throw invalid({ [String(error.details[0]?.path[0])]: error.message });
    const verdict = evaluateLicense(license, license.product, this.clock.now());
    const rejected = findFileRejection(license, verdict);
    if (rejected !== null) return { status: rejected };
    const known = machine_id === null ? null : await this.machines.find(license, machine_id);
    const machine = machine_id === null ? null : toMachine(given, machine_id);
    return this.issueFile(license, machine, given.valid_days, known);
  }

  /**
   * Needs an active license.
   * @param machine null for a file valid on every machine, when the license has no limit
   * @throws ServiceError validation_failed
   */
  async issueFile(
    license: LicenseDoc,
    machine: Machine | null,
    valid_days: number,
    known: ActivationDoc | null,
  ): Promise<IssuedFile> {
    if (machine === null && license.max_activations !== null)
      throw invalid({ machine_id: 'is required: this license has a limited number of machines' });
    const now = this.clock.now();
    const ends = toIsoString(now + valid_days * DAY_MS);
    const valid_until = license.expires_at !== null && license.expires_at < ends ? license.expires_at : ends;
    if (machine !== null) {
      const seat = await this.machines.takeSeat(license, machine, known);
      if (seat !== 'active') return { status: SEAT_STATUSES[seat] };
      // The slot stays taken until the file expires.
      const isRetained = await this.machines.retainUntil(getActivationId(license, machine.machine_id), valid_until);
      if (!isRetained) return { status: 'machine_limit' };
    }
    const { id: license_id, key_sha256, key_masked, product, licensee, expires_at } = license;
    const text = await this.signing.signFile({
      schema: 1,
      license_id,
      key_sha256,
      key_masked,
      product,
      licensee,
      features: parseFeatures(license),
      issued_at: toIsoString(now),
      not_before: toIsoString(now - HOUR_MS),
      valid_until,
      expires_at,
      machine_id: machine?.machine_id ?? null,
      cache_ttl_hours: await this.licenses.getCacheTtlHours(product),
    });
    return { text };
  }

  async findByKey(license_key: string): Promise<LicenseDoc | null> {
    return (await this.#find(license_key, null)).license;
  }

  async #find(named: KeyReference, machine_id: string | null): Promise<LookupResult> {
    const { sha256, isNone } =
      typeof named === 'string' ? hashEnteredKey(normalizeLicenseKey(named)) : { ...named, isNone: false };
    if (isNone) return { sha256, license: null, activation: null };
    const activations = this.activations;
    const [license, activation] = await Promise.all([
      this.keys.find(sha256),
      machine_id === null ? null : activations.get(getActivationId({ key_sha256: sha256 }, machine_id)),
    ]);
    return { sha256, license, activation };
  }

  /** Records at most once a minute, otherwise null; a concurrent record wins. */
  #recordValidation({ id, last_validated_at }: LicenseDoc, version: string | null): Promise<unknown> | null {
    const { clock, licenseRows: licenses } = this;
    const recent = last_validated_at !== null && !hasElapsed(last_validated_at, MINUTE_MS, clock.now());
    if (recent || this.#recordedValidations.get(id) === true) return null;
    this.#recordedValidations.set(id, true);
    const set = { last_validated_at: clock.iso(), ...(version !== null && { last_validated_version: version }) };
    return licenses.change({ id, last_validated_at }, { set });
  }

  async #release(
    principal: Principal,
    license: LicenseDoc,
    activation: ActivationDoc,
    reason?: string | null,
  ): Promise<ActivationDoc> {
    const leaves = (activation.status === 'active' || activation.status === 'pending') && !this.#isRetained(activation);
    const released = leaves ? await this.machines.vacate(activation, ['active', 'pending'], 'released') : null;
    if (released === null) return (await this.machines.find(license, activation.machine_id)) ?? activation;
    const { id, machine_id, product } = released;
    const details = { product, activation: id, machine_id, ...(reason && { reason }) };
    const shown = { before: { status: activation.status }, after: { status: released.status } };
    await this.audit.record(principal, 'license.machine_released', license.id, details, shown);
    return released;
  }

  #isRetained(activation: ActivationDoc): boolean {
    return this.machines.getRetainedUntil(activation) !== null;
  }

  async #deactivateLicense(
    principal: Principal,
    license: LicenseDoc,
    permanent: boolean,
    reason?: string | null,
  ): Promise<LicenseState> {
    const { status, id } = license;
    if (status === 'revoked' || (status === 'inactive' && !permanent)) return status;
    const move = permanent ? 'revoke' : 'deactivate';
    try {
      return (await this.licenses.applyTransition(principal, id, move, reason ?? undefined)).status;
    } catch (error) {
      const now = error instanceof ServiceError && error.status === 409 ? await this.licenseRows.get(id) : null;
      if (now?.status !== 'revoked' && now?.status !== 'inactive') throw error;
      return now.status;
    }
  }
}

export interface DeactivationRequest {
  license_key: string;
  product?: string | undefined;
  machine_id?: string | null | undefined;
  reason?: string | null | undefined;
  permanent?: boolean | undefined;
}

export const REJECTION_REASONS = ['unknown_machine', 'blocked', 'file_until'] as const;
type RejectionReason = (typeof REJECTION_REASONS)[number];

function getRejectionReason(activation: ActivationDoc | null): RejectionReason {
  if (activation === null) return 'unknown_machine';
  return activation.status === 'blocked' ? 'blocked' : 'file_until';
}

export type DeactivationResult =
  | { status: LicenseState; released: boolean; reason?: RejectionReason; activation: ActivationDoc | null }
  | { refused: 'product_mismatch' | 'invalid_transition' };

const hashEnteredKey = (key: string): { sha256: string; isNone: boolean } => ({
  sha256: hashKey(key),
  isNone: !isKey(key),
});

/** Its state, or `floating`; null when it may have a file. */
function findFileRejection(license: LicenseDoc | null, verdict: LicenseVerdict): LicenseStatus | 'floating' | null {
  if (isValidStatus(verdict) && license?.floating === true) return 'floating';
  return verdict === 'active' ? null : verdict;
}

function toMachine(question: MachineDetails, machine_id: string): Machine {
  const { machine_name = null, platform = null, app_version = null } = question;
  return { machine_id, machine_name, platform, app_version };
}
