/**
 * Recognizes earlier imports by identity or address and updates them; a taken source gets a number.
 * Each monitor is complete before the next, so an aborted run can be repeated.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { DEPS } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { getMonitorId } from '../model/monitor-id.js';
import { HeartbeatIntake } from '../heartbeat/heartbeat-intake.js';
import { ProbedMonitorService, type ProbedMonitorView } from '../monitors/probed-monitor-service.js';
import { ImportedAddressStore } from './imported-address-store.js';
import type { ImportedMonitor } from './imported-monitor.js';
import { removeRejectedFields, type MonitorInput } from './rejected-fields.js';
import type { MonitorProbes } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

export interface ImportReport {
  created: string[];
  updated: string[];
  known: string[];
  /** Without a counterpart, by monitor. */
  notes: { monitor: string; note: string }[];
}

export const MAX_IMPORTED_MONITORS = 10_000;
const PROGRESS_INTERVAL = 100;

const TIMING_FIELDS = ['schedule', 'period_seconds', 'interval_seconds'] as const;
const TARGET_FIELDS = ['kind', 'url', 'host', 'port'] as const;

interface ImportRun {
  report: ImportReport;
  sources: Map<string, string>;
  names: Map<string, number>;
  claimed: Set<string>;
}

const getProbeField = ({ probe }: ImportedMonitor): { probe?: Record<string, unknown> | null } =>
  probe === undefined ? {} : { probe: probe as Record<string, unknown> | null };

const CALLER: WatchdogCaller = { name: 'command line', token: null, project: null, source: null };

@injectable()
export class MonitorImporter {
  constructor(
    @inject(DEPS.monitors) private readonly monitorRows: Collection<MonitorDoc>,
    @inject(DEPS.probes) private readonly probes: () => MonitorProbes | null,
    @inject(ProbedMonitorService) private readonly monitors: ProbedMonitorService,
    @inject(HeartbeatIntake) private readonly intake: HeartbeatIntake,
    @inject(ImportedAddressStore) private readonly addresses: ImportedAddressStore,
  ) {}

  /**
   * @param progress called every hundred monitors with the number done
   * @throws ServiceError validation_failed for more than `MAX_IMPORTED_MONITORS`
   */
  async importAll(
    imported: readonly ImportedMonitor[],
    progress: (done: number, all: number) => void = () => undefined,
  ): Promise<ImportReport> {
    if (imported.length > MAX_IMPORTED_MONITORS) {
      throw invalid({
        file: `has ${imported.length} monitors; one import can have at most ${MAX_IMPORTED_MONITORS}: split the file`,
      });
    }
    const run: ImportRun = {
      report: { created: [], updated: [], known: [], notes: [] },
      sources: new Map(),
      names: new Map(),
      claimed: new Set(),
    };
    let done = 0;
    for (const one of sortParentsFirst(imported)) {
      await this.#importOne(one, run);
      if (++done % PROGRESS_INTERVAL === 0) progress(done, imported.length);
    }
    return run.report;
  }

  async #importOne(one: ImportedMonitor, run: ImportRun): Promise<void> {
    const { report, sources, claimed } = run;
    const notes = [...one.notes];
    const outside = one.exact === true ? one.parent_key : null;
    const parent = one.parent_key === null ? null : (sources.get(one.parent_key) ?? outside);
    if (one.parent_key !== null && parent === null) notes.push('Its group is not in the file: it has no parent.');
    const before = await this.#recognize(one, claimed);
    const source = before ?? (await this.#findFreeSource(one.wanted, run.names));
    sources.set(one.key, source);
    claimed.add(source);
    if (before === null) {
      await this.#create(source, { ...one.fields, parent_source: parent, ...(one.probe && getProbeField(one)) }, notes);
      report.created.push(source);
    } else {
      const isMoved = parent !== null || claimed.has((await this.#findParent(source)) ?? '');
      const fields = { ...one.fields, ...(isMoved && { parent_source: parent }), ...getProbeField(one) };
      if (await this.#update(source, fields, notes)) report.updated.push(source);
      report.known.push(source);
    }
    await this.addresses.saveIdentities(one.identities, source);
    if (one.address !== null && !(await this.addresses.saveAddress(one.address, source)))
      notes.push('Its ping URL has an unsupported format, or belongs to another monitor: create a token for it.');
    report.notes.push(...notes.map((note) => ({ monitor: source, note })));
  }

  async #recognize(one: ImportedMonitor, claimed: ReadonlySet<string>): Promise<string | null> {
    const { address, identities } = one;
    const found =
      (await this.addresses.findSourceByIdentities(identities)) ??
      (address === null ? null : await this.addresses.findSource(address)) ??
      (await this.#recognizeLegacy(one));
    return found === null || claimed.has(found) ? null : found;
  }

  /** Imports without identities: same name and target. */
  async #recognizeLegacy({ address, wanted, exact, fields, probe }: ImportedMonitor): Promise<string | null> {
    if (address !== null) return null;
    const found = await this.monitorRows.get(getMonitorId(wanted));
    if (found === null || found.deleted_at !== null) return null;
    if (exact === true) return wanted;
    if (found.name !== fields.name) return null;
    const existingProbe = await this.probes()?.find(wanted);
    const given = (probe ?? null) as Record<string, unknown> | null;
    if (!existingProbe) return given === null && found.last_heartbeat_at === null ? wanted : null;
    return given !== null && TARGET_FIELDS.every((field) => existingProbe[field] === given[field]) ? wanted : null;
  }

  async #findParent(source: string): Promise<string | null> {
    return (await this.monitorRows.get(getMonitorId(source)))?.parent_source ?? null;
  }

  /** Without timing the interval is learned. */
  async #create(source: string, given: MonitorInput, notes: string[]): Promise<void> {
    await this.#writeTolerantly(given, notes, async (fields) => {
      const isTimed =
        TIMING_FIELDS.some((field) => fields[field] !== undefined) || fields.group === true || fields.probe;
      if (isTimed) await this.monitors.create({ source, ...fields }, CALLER);
      else {
        await this.intake.ensureMonitor(source, CALLER, { run: null, interval: null });
        await this.monitors.update(source, fields, CALLER);
      }
    });
  }

  async #update(source: string, given: MonitorInput, notes: string[]): Promise<boolean> {
    const before = await this.monitors.getView(source, CALLER);
    const probe = given.probe && {
      ...given.probe,
      ...('url' in given.probe && { headers: given.probe['headers'] ?? null }),
    };
    const after = await this.#writeTolerantly({ ...given, ...(probe && { probe }) }, notes, (fields) =>
      this.monitors.update(source, fields, CALLER),
    );
    const shown = (view: ProbedMonitorView): string => JSON.stringify({ ...view, updated_at: null });
    return shown(before) !== shown(after);
  }

  async #writeTolerantly<T>(
    given: MonitorInput,
    notes: string[],
    write: (fields: MonitorInput) => Promise<T>,
  ): Promise<T> {
    for (let fields = given; ;) {
      try {
        const written = await write(fields);
        notes.push(...(this.monitors.listWarnings({ probe: fields.probe ?? null }).warnings ?? []));
        return written;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const smaller = removeRejectedFields(fields, error);
        if (smaller === null) throw error;
        notes.push(smaller.note);
        fields = smaller.fields;
      }
    }
  }

  /**
   * @param names last number per name, so that a thousand equal names do not need a million
   *   attempts
   */
  async #findFreeSource(wanted: string, names: Map<string, number>): Promise<string> {
    for (let n = (names.get(wanted) ?? 0) + 1; ; n++) {
      const source = n === 1 ? wanted : `${wanted}-${n}`;
      const found = await this.monitorRows.get(getMonitorId(source));
      if (found !== null && found.deleted_at === null) continue;
      names.set(wanted, n);
      return source;
    }
  }
}

/** Monitors on a cycle lose their parent. */
function sortParentsFirst(all: readonly ImportedMonitor[]): ImportedMonitor[] {
  const byKey = new Map(all.map((one) => [one.key, one]));
  const depths = new Map<ImportedMonitor, number>();
  /** Memoized, because long chains would take millions of steps. */
  const depth = (one: ImportedMonitor): number => {
    const chain: ImportedMonitor[] = [];
    let at: ImportedMonitor | undefined = one;
    while (at !== undefined && at.parent_key !== null && !depths.has(at)) {
      chain.push(at);
      depths.set(at, 0);
      at = byKey.get(at.parent_key);
    }
    let above = at === undefined ? 0 : (depths.get(at) ?? 0);
    for (const link of chain.toReversed()) depths.set(link, ++above);
    return above;
  };
  return all
    .map((one) => ({ one, depth: depth(one) }))
    .toSorted((a, b) => a.depth - b.depth)
    .map(({ one }) => one);
}
