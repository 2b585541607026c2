/**
 * New groups and regressions by version, which halt a staged rollout (contract 40, staged rollout). Intake keys are
 * public, so a fault that they alone report counts only after reports from two addresses: else one stranger could stop
 * every release.
 *
 * The item itself holds the fault, written together with the change that makes the group new or brings it back:
 * `fault_key` and `fault_at` when the fault counts, or `lone_fault` while it waits for another sender. Of an address
 * only a keyed hash is kept, made for this one item, and only while it waits. A report of a known group costs nothing
 * more, except the one that makes the fault count: it takes `lone_fault` away by compare-and-set, so of several at once
 * exactly one writes.
 *
 * Each regression waits anew: a group that was confirmed once must not let a stranger halt the release that fixed it.
 */
import { createHmac } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { networkOf } from '../../../lib/addresses.js';
import { readVersion } from '../../../lib/versions.js';
import type { Report, VersionFaults } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { buildKey } from '../item/build-names.js';

type Fault = Pick<ItemDoc, 'fault_key' | 'fault_at' | 'lone_fault'>;
type Sender = Pick<Report, 'intake_key' | 'address'>;

@injectable()
export class Faults implements VersionFaults {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'faultWatchers' | 'senderKey'>) {}

  async count(project: string, version: string, since: string): Promise<number> {
    if (readVersion(version).version === null) return 0;
    return this.deps.items.count({
      fault_key: buildKey(project, version),
      fault_at: { gte: since },
      muted: false,
      status: { ne: 'duplicate' },
    });
  }

  /** Fields of an item whose group this report makes, or brings back; none where it is no error or names no version. */
  begun(item: Pick<ItemDoc, 'id' | 'project' | 'type'>, report: Report): Fault {
    const version = report.app_version?.trim() ?? '';
    if (item.type !== 'error' || readVersion(version).version === null) return {};
    const key = buildKey(item.project, version);
    return isPublic(report)
      ? { fault_key: undefined, fault_at: undefined, lone_fault: { key, sender: this.#hash(item.id, report) } }
      : { fault_key: key, fault_at: this.deps.clock.iso(), lone_fault: undefined };
  }

  /**
   * Looks at an item after a count: a second sender makes the fault count. Answers the item as it is then.
   * @param begun this count made the group, or brought it back
   */
  async look(doc: ItemDoc, report: Report, begun: boolean): Promise<ItemDoc> {
    const confirmed = await this.#confirmed(doc, report);
    const now = confirmed ?? doc;
    if (now.fault_key !== undefined && (begun || confirmed !== null)) this.#tell(now.fault_key);
    return now;
  }

  /** The item when this report made its fault count; else null. */
  async #confirmed({ id, lone_fault: lone }: ItemDoc, report: Report): Promise<ItemDoc | null> {
    if (lone === undefined || (isPublic(report) && this.#hash(id, report) === lone.sender)) return null;
    const same = { id, 'lone_fault.key': lone.key, 'lone_fault.sender': lone.sender };
    const set = { fault_key: lone.key, fault_at: this.deps.clock.iso() };
    return (await this.deps.items.change(same, { set, unset: ['lone_fault'] }))?.doc ?? null;
  }

  #hash(item: string, { address }: Sender): string {
    const text = `${item} ${networkOf(address ?? '')}`;
    return createHmac('sha256', this.deps.senderKey).update(text).digest('base64url').slice(0, 22);
  }

  #tell(key: string): void {
    const [project = '', version = ''] = key.split(' ');
    for (const watcher of this.deps.faultWatchers()) watcher.counted(project, version);
  }
}

const isPublic = ({ intake_key }: Sender): boolean => typeof intake_key === 'string';
