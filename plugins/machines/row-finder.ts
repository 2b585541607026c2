/**
 * Finds the rows of the machine that a report is about. Ids are certain. A name joins a monitor and
 * an activation, which both came with a credential, where no other machine has it; update checks
 * need no credential and name nothing.
 */
import { hash } from 'node:crypto';
import type { Collection } from '../../kernel/contract/index.js';
import type { MachineReport } from '../../ports/domain/machines/inventory.js';
import type { Filter } from '../../ports/store/index.js';
import type { InventoryDoc } from './documents.js';

export class MachineRowFinder {
  constructor(private readonly rows: Collection<InventoryDoc>) {}

  /** Whether the machine of a heartbeat sends those of another monitor. */
  async hasOtherMonitor({ source, project, key, instance_id }: MachineReport): Promise<boolean> {
    if (source !== 'heartbeat' || !instance_id) return false;
    const row = await this.rows.get(getInstanceRowId(project, instance_id));
    return row !== null && row.monitor !== null && row.monitor !== key;
  }

  /** At most two: the row of the machine's id, then that of its monitor alone. */
  async findRows(report: MachineReport): Promise<InventoryDoc[]> {
    if (report.source === 'activation') return this.#findByActivation(report);
    const { source, project, key, instance_id } = report;
    if (source === 'heartbeat' && !instance_id) return this.#findByMonitor(report);
    const own = await this.rows.get(getInstanceRowId(project, instance_id ?? key));
    if (own !== null && source === 'update_check') return [own];
    return listRows(own, await this.#findOne({ project, monitor: key, instance_id: null }));
  }

  async #findByActivation({ project, key, name }: MachineReport): Promise<InventoryDoc[]> {
    const own = await this.rows.get(getInstanceRowId(project, key));
    if (own !== null && own.monitor !== null) return [own];
    const named = await this.#listNamed(project, toNameKeys(key, name));
    if (named.some((row) => row.instance_id !== null && row.id !== own?.id)) return listRows(own);
    const ofSource = await this.#findOne({ project, monitor: { in: [key, name ?? key] }, instance_id: null });
    const monitors = named.filter(({ instance_id }) => instance_id === null);
    return listRows(own, ofSource ?? (monitors.length === 1 ? monitors[0] : null));
  }

  async #findByMonitor({ project, key, name }: MachineReport): Promise<InventoryDoc[]> {
    const linked = await this.#findOne({ project, monitor: key });
    if (linked !== null && linked.instance_id !== null) return [linked];
    const own = await this.rows.get(getInstanceRowId(project, key));
    if (own !== null) return listRows(own, linked);
    const named = (await this.#listNamed(project, toNameKeys(key, name))).filter((row) => row.instance_id !== null);
    return listRows(named.length === 1 && named[0]?.monitor === null ? named[0] : null, linked);
  }

  /** Null when several machines match. */
  async #findOne(filter: Filter): Promise<InventoryDoc | null> {
    const { items } = await this.rows.find({ filter, limit: 2 });
    return items.length === 1 ? (items[0] ?? null) : null;
  }

  async #listNamed(project: string, names: readonly string[]): Promise<InventoryDoc[]> {
    const { items } = await this.rows.find({ filter: { project, name_key: { in: names } }, limit: MAX_NAMED });
    return items;
  }
}

/** Enough to see that a name is not unique. */
const MAX_NAMED = 4;

const listRows = (...rows: (InventoryDoc | null | undefined)[]): InventoryDoc[] =>
  rows.filter((row) => row !== null && row !== undefined);

/** What a credential reported outranks what came without one. */
export function mergeRows([first, second]: readonly InventoryDoc[]): InventoryDoc | null {
  if (first === undefined || second === undefined) return first ?? null;
  const isOutranked = second.version_verified && !first.version_verified;
  const { version, version_since, version_verified } = isOutranked ? second : first;
  return {
    ...first,
    monitor: first.monitor ?? second.monitor,
    name: first.name ?? second.name,
    license_id: first.license_id ?? second.license_id,
    version,
    version_since,
    version_verified,
    first_seen_at: first.first_seen_at < second.first_seen_at ? first.first_seen_at : second.first_seen_at,
  };
}

export const toNameKey = (name: string): string => name.toLowerCase();
const toNameKeys = (key: string, name: string | null): string[] => [
  ...new Set([toNameKey(key), toNameKey(name ?? key)]),
];
const getRowId = (kind: string, project: string, key: string): string =>
  hash('sha256', `${kind}\n${project}\n${key}`, 'hex').slice(0, 32);
export const getInstanceRowId = (project: string, instance: string): string => getRowId('instance', project, instance);
export const getMonitorRowId = (project: string, source: string): string => getRowId('monitor', project, source);
