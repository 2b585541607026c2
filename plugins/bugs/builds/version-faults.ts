/**
 * Tracks new groups and regressions by version, which halt a staged rollout (contract 40, staged
 * rollout).
 *
 * Intake keys are public, so a fault reported only with them counts by distinct networks; otherwise
 * one untrusted client could stop every release. The item stores the fault together with the change
 * that creates or reopens the group, and only keyed hashes of at most 50 networks. The first report
 * with a token clears `public_fault`. Both writes are compare-and-set. A regression starts over, so
 * a confirmed group does not halt the release that fixed it.
 */
import { createHmac } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { getOperatorNetwork } from '../../../lib/addresses.js';
import { parseNamedVersion } from '../../../lib/versions.js';
import type {
  PublicEvidence,
  Report,
  VersionFaultListener,
  VersionFaults,
  VersionItem,
} from '../../../ports/domain/bugs.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection, Filter } from '../../../ports/store/index.js';
import { findReadable } from '../../../ports/store/skipped-documents.js';
import { DEPS } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { toBuildKey } from '../item/build-names.js';
import { toVersionItems } from './version-fixes.js';

type FaultFields = Pick<ItemDoc, 'fault_key' | 'fault_at' | 'public_fault'>;
const MAX_NETWORKS = 50;
const MAX_ATTEMPTS = 10;

type ReportSender = Pick<Report, 'intake_key' | 'address'>;

@injectable()
export class VersionFaultTracker implements VersionFaults {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.faultWatchers) private readonly faultWatchers: () => readonly VersionFaultListener[],
    @inject(DEPS.senderKey) private readonly senderKey: Buffer,
  ) {}

  async count(project: string, version: string, since: string, evidence: PublicEvidence): Promise<number> {
    const items = this.items;
    const counts = await Promise.all(
      buildFaultFilters(project, version, since, evidence).map((one) => items.count(one)),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  }

  async list(
    project: string,
    version: string,
    since: string,
    evidence: PublicEvidence,
    limit: number,
  ): Promise<VersionItem[]> {
    const filters = buildFaultFilters(project, version, since, evidence);
    const pages = await Promise.all(filters.map((filter) => findReadable(this.items, { filter, limit })));
    return toVersionItems(
      pages.flatMap(({ items }) => items),
      limit,
    );
  }

  /**
   * Returns the fault fields of a created or reopened item; empty without an error or a version.
   */
  buildFaultFields(item: Pick<ItemDoc, 'id' | 'project' | 'type'>, report: Report): FaultFields {
    const version = report.app_version?.trim() ?? '';
    if (item.type !== 'error' || parseNamedVersion(version).version === null) return {};
    const public_fault = hasPublicSender(report) ? { networks: [this.#hash(item.id, report)], n: 1 } : undefined;
    return { fault_key: toBuildKey(item.project, version), fault_at: this.clock.iso(), public_fault };
  }

  /**
   * Records the report's sender if it is new to the item's fault.
   * @param begun whether this count created or reopened the group
   */
  async recordSender(doc: ItemDoc, report: Report, begun: boolean): Promise<ItemDoc> {
    const stronger = doc.public_fault === undefined ? null : await this.#addEvidence(doc, report);
    const now = stronger ?? doc;
    if (now.fault_key !== undefined && (begun || stronger !== null)) this.#notifyWatchers(now.fault_key);
    return now;
  }

  async #addEvidence(doc: ItemDoc, report: Report): Promise<ItemDoc | null> {
    const { items, clock } = this;
    let known: ItemDoc | null = doc;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && known !== null; attempt++) {
      const { public_fault: fault } = known;
      if (fault === undefined || known.fault_key !== doc.fault_key) return null;
      const set = { fault_at: clock.iso() };
      const same = { id: doc.id, fault_key: doc.fault_key, 'public_fault.n': fault.n };
      const network = hasPublicSender(report) ? this.#hash(doc.id, report) : null;
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

  #hash(item: string, { address }: ReportSender): string {
    const text = `${item} ${getOperatorNetwork(address ?? '')}`;
    return createHmac('sha256', this.senderKey).update(text).digest('base64url').slice(0, 12);
  }

  #notifyWatchers(key: string): void {
    const [project = '', version = ''] = key.split(' ');
    for (const watcher of this.faultWatchers()) watcher.onFaultCounted(project, version);
  }
}

/** Of confirmed faults, and of those that enough intake keys reported. */
function buildFaultFilters(project: string, version: string, since: string, evidence: PublicEvidence): Filter[] {
  if (parseNamedVersion(version).version === null) return [];
  const faults: Filter = {
    fault_key: toBuildKey(project, version),
    fault_at: { gte: since },
    muted: false,
    status: { ne: 'duplicate' },
  };
  const networks = Math.min(evidence.networks, MAX_NETWORKS);
  return [
    { ...faults, 'public_fault.n': { exists: false } },
    { ...faults, 'public_fault.n': { gte: networks }, hit_count: { gte: evidence.reports } },
  ];
}

const hasPublicSender = ({ intake_key }: ReportSender): boolean => typeof intake_key === 'string';
