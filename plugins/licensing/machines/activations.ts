/** Administers the machines of a license (contract 50, administration API). */
import { inject, injectable, type Principal } from '../../../kernel/contract.js';
import { conflict, notFound, refuse } from '../../../kernel/errors.js';
import type { Filter } from '../../../ports/store.js';
import { getTokenProduct } from '../model/caller.js';
import { DEPS, type LicensingDeps } from '../deps.js';
import { Licenses } from '../licenses/licenses.js';
import type { ActivationDoc, ActivationState, LicenseDoc } from '../model/documents.js';
import { LicensedMachines } from './machines.js';
import { findReadable, type ReadablePage } from '../../../ports/store/left-out.js';

export const MACHINE_MOVES = ['approve', 'reject', 'block', 'release'] as const;
export type MachineMove = (typeof MACHINE_MOVES)[number];

const FROM: Readonly<Record<MachineMove, readonly ActivationState[]>> = {
  approve: ['pending', 'blocked'],
  reject: ['pending'],
  block: ['active', 'pending', 'released'],
  release: ['active', 'pending', 'blocked'],
};
const PAST: Readonly<Record<MachineMove, string>> = {
  approve: 'approved',
  reject: 'rejected',
  block: 'blocked',
  release: 'released',
};

export const listMachineMoves = (status: ActivationState): MachineMove[] =>
  MACHINE_MOVES.filter((move) => FROM[move].includes(status));

@injectable()
export class Activations {
  constructor(
    @inject(DEPS) private readonly deps: Pick<LicensingDeps, 'activations' | 'audit'>,
    @inject(Licenses) private readonly licenses: Licenses,
    @inject(LicensedMachines) private readonly machines: LicensedMachines,
  ) {}

  /**
   * Lists the machines of one license, oldest first.
   * @throws ServiceError not_found, insufficient_scope
   */
  async page(
    principal: Principal,
    license_id: string,
    query: { status?: ActivationState; limit: number; cursor?: string },
  ): Promise<ReadablePage<ActivationDoc> & { count: () => Promise<number> }> {
    await this.licenses.need(principal, license_id);
    const filter: Filter = { license_id, ...(query.status !== undefined && { status: query.status }) };
    const sort = [['first_seen', 'asc']] as const;
    const { activations } = this.deps;
    const page = await findReadable(activations, { filter, sort, limit: query.limit, after: query.cursor ?? null });
    return { ...page, count: () => activations.count(filter) };
  }

  async waiting(principal: Principal, limit: number): Promise<ActivationDoc[]> {
    const product = getTokenProduct(principal);
    const filter: Filter = { status: 'pending', ...(product !== null && { product }) };
    return (await this.deps.activations.find({ filter, sort: [['first_seen', 'asc']], limit })).items;
  }

  waitingCount(): Promise<number> {
    return this.deps.activations.count({ status: 'pending' });
  }

  async states(license_id: string): Promise<Partial<Record<ActivationState, number>>> {
    const counts = await this.deps.activations.groupCount('status', { license_id });
    return Object.fromEntries(counts.map(({ key, n }) => [String(key), n]));
  }

  /** @throws ServiceError not_found, insufficient_scope, invalid_transition, conflict */
  async move(actor: Principal, license_id: string, id: string, move: MachineMove): Promise<ActivationDoc> {
    const license = await this.licenses.need(actor, license_id);
    const before = await this.deps.activations.get(id);
    if (before === null || before.license_id !== license_id) throw notFound(`activation ${id.slice(0, 64)}`);
    if (!FROM[move].includes(before.status)) throw impossible(before.status, move);
    const kept = move === 'release' ? this.machines.keptUntil(before) : null;
    if (kept !== null)
      throw conflict(`The machine has a license file that is good until ${kept}; its place is free after that.`);
    const changed = await this.#write(license, before, move);
    if (changed === null) throw conflict('The machine changed meanwhile, or there are 10,000 of them. Read it again.');
    const { machine_id, product } = changed;
    const shown = { before: { status: before.status }, after: { status: changed.status } };
    const details = { product, activation: id, machine_id };
    await this.deps.audit.record(actor, `license.machine_${PAST[move]}`, license_id, details, shown);
    return changed;
  }

  #write(license: LicenseDoc, before: ActivationDoc, move: MachineMove): Promise<ActivationDoc | null> {
    if (move === 'approve') return this.machines.approve(license, before);
    return this.machines.leave(before, FROM[move], move === 'block' ? 'blocked' : 'released');
  }
}

const impossible = (status: ActivationState, move: MachineMove): Error =>
  refuse(
    409,
    'invalid_transition',
    `The machine is ${status}; ${move} is possible only when it is ${FROM[move].join(' or ')}.`,
  );
