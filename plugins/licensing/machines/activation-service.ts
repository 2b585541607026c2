import { inject, injectable, type Principal, type Collection } from '../../../kernel/contract/index.js';
import { conflict, notFound, refuse } from '../../../kernel/errors.js';
import type { Filter } from '../../../ports/store/index.js';
import { getTokenProduct } from '../model/caller.js';
import { DEPS } from '../deps.js';
import { LicenseService } from '../licenses/license-service.js';
import type { ActivationDoc, ActivationState, LicenseDoc } from '../model/documents.js';
import { MachineService } from './machine-service.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

export const MACHINE_TRANSITIONS = ['approve', 'reject', 'block', 'release'] as const;
export type MachineTransition = (typeof MACHINE_TRANSITIONS)[number];

const SOURCE_STATES: Readonly<Record<MachineTransition, readonly ActivationState[]>> = {
  approve: ['pending', 'blocked'],
  reject: ['pending'],
  block: ['active', 'pending', 'released'],
  release: ['active', 'pending', 'blocked'],
};
const AUDIT_ACTIONS: Readonly<Record<MachineTransition, string>> = {
  approve: 'approved',
  reject: 'rejected',
  block: 'blocked',
  release: 'released',
};

export const listMachineTransitions = (status: ActivationState): MachineTransition[] =>
  MACHINE_TRANSITIONS.filter((move) => SOURCE_STATES[move].includes(status));

@injectable()
export class ActivationService {
  constructor(
    @inject(DEPS.activations) private readonly activations: Collection<ActivationDoc>,
    @inject(DEPS.audit) private readonly audit: AuditLog,
    @inject(LicenseService) private readonly licenses: LicenseService,
    @inject(MachineService) private readonly machines: MachineService,
  ) {}

  /**
   * Lists oldest first.
   * @throws ServiceError not_found, insufficient_scope
   */
  async listPage(
    principal: Principal,
    license_id: string,
    query: { status?: ActivationState; limit: number; cursor?: string },
  ): Promise<ReadablePage<ActivationDoc> & { count: () => Promise<number> }> {
    await this.licenses.getLicense(principal, license_id);
    const filter: Filter = { license_id, ...(query.status !== undefined && { status: query.status }) };
    const sort = [['first_seen', 'asc']] as const;
    const activations = this.activations;
    const page = await findReadable(activations, { filter, sort, limit: query.limit, after: query.cursor ?? null });
    return { ...page, count: () => activations.count(filter) };
  }

  async listPending(principal: Principal, limit: number): Promise<ActivationDoc[]> {
    const product = getTokenProduct(principal);
    const filter: Filter = { status: 'pending', ...(product !== null && { product }) };
    return (await this.activations.find({ filter, sort: [['first_seen', 'asc']], limit })).items;
  }

  /** @param product null: all */
  countPending(product: string | null = null): Promise<number> {
    return this.activations.count({ status: 'pending', ...(product !== null && { product }) });
  }

  async countByState(license_id: string): Promise<Partial<Record<ActivationState, number>>> {
    const counts = await this.activations.groupCount('status', { license_id });
    return Object.fromEntries(counts.map(({ key, n }) => [String(key), n]));
  }

  async countActiveByLicense(ids: readonly string[]): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map();
    const counts = await this.activations.groupCount('license_id', {
      license_id: { in: [...ids] },
      status: 'active',
    });
    return new Map(counts.map(({ key, n }) => [String(key), n]));
  }

  /** @throws ServiceError not_found, insufficient_scope, invalid_transition, conflict */
  async applyTransition(
    actor: Principal,
    license_id: string,
    id: string,
    move: MachineTransition,
  ): Promise<ActivationDoc> {
    const license = await this.licenses.getLicense(actor, license_id);
    const before = await this.activations.get(id);
    if (before === null || before.license_id !== license_id) throw notFound(`activation ${id.slice(0, 64)}`);
    if (!SOURCE_STATES[move].includes(before.status)) throw createTransitionConflict(before.status, move);
    const retainedUntil = move === 'release' ? this.machines.getRetainedUntil(before) : null;
    if (retainedUntil !== null)
      throw conflict(
        `The machine has a license file that is valid until ${retainedUntil}; its seat is released after that.`,
      );
    const changed = await this.#write(license, before, move);
    if (changed === null)
      throw conflict('The machine changed meanwhile, or the limit of 10,000 machines is reached. Reload it.');
    const { machine_id, product } = changed;
    const shown = { before: { status: before.status }, after: { status: changed.status } };
    const details = { product, activation: id, machine_id };
    await this.audit.record(actor, `license.machine_${AUDIT_ACTIONS[move]}`, license_id, details, shown);
    return changed;
  }

  #write(license: LicenseDoc, before: ActivationDoc, move: MachineTransition): Promise<ActivationDoc | null> {
    if (move === 'approve') return this.machines.approve(license, before);
    return this.machines.vacate(before, SOURCE_STATES[move], move === 'block' ? 'blocked' : 'released');
  }
}

const createTransitionConflict = (status: ActivationState, move: MachineTransition): Error =>
  refuse(
    409,
    'invalid_transition',
    `The machine is ${status}; ${move} requires status ${SOURCE_STATES[move].join(' or ')}.`,
  );
