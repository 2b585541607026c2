/**
 * New groups and regressions by version, which halt a staged rollout (contract 40, staged rollout). Intake keys are
 * public, so a fault that they alone report counts as far as its reports come from different networks, which the asker
 * says how many of it wants: else one stranger could stop every release.
 *
 * The item itself holds the fault, written together with the change that makes the group new or brings it back:
 * `fault_key` and `fault_at`, and `public_fault` while intake keys alone reported it. Of a network only a keyed hash is
 * kept, made for this one item. A report of a known group costs nothing more, except from a network that is new to it,
 * of which at most 50 are noted, and the first one by a token, which takes `public_fault` away. Both are
 * compare-and-set.
 *
 * Each regression begins again: a group that was confirmed once must not let a stranger halt the release that fixed it.
 */
import { createHmac } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { getOperatorNetwork } from '../../../lib/addresses.js';
import { readVersion } from '../../../lib/versions.js';
import type { PublicEvidence, Report, VersionFaults } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { buildKey } from '../item/build-names.js';

type Fault = Pick<ItemDoc, 'fault_key' | 'fault_at' | 'public_fault'>;
/** Networks of one fault that are told apart. */
const MAX_NETWORKS = 50;
/** Retries of a note that another process was faster than. */
const ATTEMPTS = 10;

type Sender = Pick<Report, 'intake_key' | 'address'>;

@injectable()
export class Faults implements VersionFaults {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock' | 'faultWatchers' | 'senderKey'>) {}

  async count(project: string, version: string, since: string, evidence: PublicEvidence): Promise<number> {
    if (readVersion(version).version === null) return 0;
    const faults = {
      fault_key: buildKey(project, version),
      fault_at: { gte: since },
      muted: false,
      status: { ne: 'duplicate' as const },
    };
    const { items } = this.deps;
    const networks = Math.min(evidence.networks, MAX_NETWORKS);
    const [confirmed, reported] = await Promise.all([
      items.count({ ...faults, 'public_fault.n': { exists: false } }),
      items.count({ ...faults, 'public_fault.n': { gte: networks }, hit_count: { gte: evidence.reports } }),
    ]);
    return confirmed + reported;
  }

  /** Fields of an item whose group this report makes, or brings back; none where it is no error or names no version. */
  begun(item: Pick<ItemDoc, 'id' | 'project' | 'type'>, report: Report): Fault {
    const version = report.app_version?.trim() ?? '';
    if (item.type !== 'error' || readVersion(version).version === null) return {};
    const public_fault = isPublic(report) ? { networks: [this.#hash(item.id, report)], n: 1 } : undefined;
    return { fault_key: buildKey(item.project, version), fault_at: this.deps.clock.iso(), public_fault };
  }

  /**
   * Looks at an item after a count: a sender that is new to it strengthens the fault. Answers the item as it is then.
   * @param begun this count made the group, or brought it back
   */
  async look(doc: ItemDoc, report: Report, begun: boolean): Promise<ItemDoc> {
    const stronger = doc.public_fault === undefined ? null : await this.#strengthened(doc, report);
    const now = stronger ?? doc;
    if (now.fault_key !== undefined && (begun || stronger !== null)) this.#tell(now.fault_key);
    return now;
  }

  /** The item when this report made its fault stronger; else null. */
  async #strengthened(doc: ItemDoc, report: Report): Promise<ItemDoc | null> {
    const { items, clock } = this.deps;
    let known: ItemDoc | null = doc;
    for (let attempt = 0; attempt < ATTEMPTS && known !== null; attempt++) {
      const { public_fault: fault } = known;
      if (fault === undefined || known.fault_key !== doc.fault_key) return null;
      const set = { fault_at: clock.iso() };
      const same = { id: doc.id, fault_key: doc.fault_key, 'public_fault.n': fault.n };
      const network = isPublic(report) ? this.#hash(doc.id, report) : null;
      if (network !== null && (fault.networks.includes(network) || fault.n >= MAX_NETWORKS)) return null;
      const update =
        network === null
          ? { set, unset: ['public_fault'] }
          : { set: { ...set, public_fault: { networks: [...fault.networks, network], n: fault.n + 1 } } };
      const changed = await items.change(same, update);
      if (changed !== null) return changed.doc;
      known = await items.get(doc.id);
    }
    return null;
  }

  #hash(item: string, { address }: Sender): string {
    const text = `${item} ${getOperatorNetwork(address ?? '')}`;
    return createHmac('sha256', this.deps.senderKey).update(text).digest('base64url').slice(0, 12);
  }

  #tell(key: string): void {
    const [project = '', version = ''] = key.split(' ');
    for (const watcher of this.deps.faultWatchers()) watcher.counted(project, version);
  }
}

const isPublic = ({ intake_key }: Sender): boolean => typeof intake_key === 'string';
