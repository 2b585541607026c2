/**
 * Stores what machines report. Reports arrive on the busiest paths of the service, so they are
 * collected in memory and written shortly afterwards; one that says nothing new is dropped. A crash
 * loses reports of a few seconds, which the machines repeat.
 */
import {
  inject,
  injectable,
  PORT,
  token,
  type Clock,
  type Collection,
  type Logger,
} from '../../kernel/contract/index.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { MINUTE_MS } from '../../lib/time.js';
import type { MachineReleases, MachineReport } from '../../ports/domain/machines/inventory.js';
import type { InventoryDoc } from './documents.js';
import { getInstanceRowId, getMonitorRowId, MachineRowFinder, mergeRows, toNameKey } from './row-finder.js';

export const MACHINE_ROWS = token<Collection<InventoryDoc>>('machines.rows');
export const MACHINE_LOG = token<Logger>('machines.log');
export const FIND_MACHINE_RELEASES = token<() => MachineReleases | undefined>('machines.releases_now');

const WRITE_DELAY_MS = 1_000;
const REPEAT_INTERVAL_MS = 10 * MINUTE_MS;
const MAX_REMEMBERED_REPORTS = 50_000;
const MAX_WAITING_REPORTS = 10_000;
const MAX_WAITING_BEFORE_READ = 500;
/** Update checks need no credential: anonymous clients must not fill the store. */
const MAX_MACHINES_PER_PROJECT = 250_000;
const DEFAULT_CHANNEL = 'stable';

@injectable()
export class MachineReportWriter {
  readonly #reported: BoundedMap<string>;
  readonly #finder: MachineRowFinder;
  readonly #waiting = new Map<string, MachineReport>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #open = true;

  constructor(
    @inject(MACHINE_ROWS) private readonly rows: Collection<InventoryDoc>,
    @inject(FIND_MACHINE_RELEASES) private readonly releases: () => MachineReleases | undefined,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(MACHINE_LOG) private readonly log: Logger,
  ) {
    this.#finder = new MachineRowFinder(rows);
    this.#reported = new BoundedMap({
      most: MAX_REMEMBERED_REPORTS,
      ttlMs: REPEAT_INTERVAL_MS,
      now: () => clock.monotonic(),
    });
  }

  record(report: MachineReport): void {
    const key = `${report.source}\n${report.project}\n${report.key}\n${report.instance_id ?? ''}`;
    const { name, version, channel, platform, license_id } = report;
    const said = `${version}\n${channel}\n${platform}\n${name}\n${license_id}`;
    if (this.#reported.get(key) === said) return;
    if (!this.#open || (this.#waiting.size >= MAX_WAITING_REPORTS && !this.#waiting.has(key))) return;
    this.#reported.set(key, said);
    this.#waiting.set(key, report);
    this.#timer ??= setTimeout(() => void this.#startWriting(), WRITE_DELAY_MS).unref();
  }

  /** Writes what is waiting, unless that would delay the reader. */
  async flushBeforeRead(): Promise<void> {
    if (this.#waiting.size <= MAX_WAITING_BEFORE_READ) await this.#startWriting();
  }

  async stop(): Promise<void> {
    this.#open = false;
    await this.#startWriting();
  }

  #startWriting(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const before = this.#writing;
    this.#writing = this.#writeAfter(before);
    return this.#writing;
  }

  async #writeAfter(before: Promise<void>): Promise<void> {
    await before;
    const reports = [...this.#waiting];
    this.#waiting.clear();
    const sizes = new Map<string, number>();
    for (const [key, report] of reports) {
      try {
        await this.#write(report, sizes);
      } catch (err) {
        this.#reported.delete(key);
        this.log.warn({ err, project: report.project }, 'machine report not stored');
      }
    }
  }

  async #write(given: MachineReport, sizes: Map<string, number>): Promise<void> {
    // Its token is for one monitor: it does not speak for the machine of another.
    const isOther = await this.#finder.hasOtherMonitor(given);
    const report = isOther ? { ...given, instance_id: null } : given;
    const found = await this.#finder.findRows(report);
    const known = mergeRows(found);
    if (known === null && report.source === 'update_check' && (await this.#isFull(report.project, sizes))) return;
    // A heartbeat without a version says which monitor a machine has, not that it runs the project.
    if (known === null && report.source === 'heartbeat' && report.version === null) return;
    const { id, ...fields } = this.#buildRow(report, known, this.clock.iso());
    await this.rows.change({ id }, { set: fields }, { upsert: true });
    for (const row of found) if (row.id !== id) await this.rows.remove({ id: row.id });
  }

  async #isFull(project: string, sizes: Map<string, number>): Promise<boolean> {
    const size = sizes.get(project) ?? (await this.rows.count({ project }));
    sizes.set(project, size + 1);
    return size >= MAX_MACHINES_PER_PROJECT;
  }

  #buildRow(report: MachineReport, known: InventoryDoc | null, at: string): InventoryDoc {
    const { source, project, key } = report;
    const isMonitor = source === 'heartbeat';
    const instance_id = isMonitor ? (report.instance_id ?? known?.instance_id ?? null) : key;
    const name = isMonitor ? (known?.name ?? report.name) : (report.name ?? known?.name ?? null);
    const version_verified =
      (known?.version_verified ?? false) || (source !== 'update_check' && report.version !== null);
    // Update checks need no credential, so they never replace what one with a credential reported.
    const isOutranked = source === 'update_check' && version_verified;
    const version = (isOutranked ? known?.version : report.version) ?? known?.version ?? null;
    const platform = (isOutranked ? known?.platform : null) ?? report.platform ?? known?.platform ?? null;
    const found = version === null ? null : (this.releases()?.findChannel(project, version) ?? null);
    const isContradicted = isOutranked && report.version !== known?.version;
    const reported_channel = (isContradicted ? null : report.channel) ?? known?.reported_channel ?? null;
    const channel = reported_channel ?? found ?? DEFAULT_CHANNEL;
    return {
      id: instance_id === null ? getMonitorRowId(project, key) : getInstanceRowId(project, instance_id),
      project,
      instance_id,
      monitor: isMonitor ? key : (known?.monitor ?? null),
      name,
      name_key: name === null ? null : toNameKey(name),
      version,
      version_verified,
      channel,
      reported_channel,
      platform,
      license_id: report.license_id ?? known?.license_id ?? null,
      place: JSON.stringify([project, channel, platform, version]),
      version_since: known !== null && known.version === version ? known.version_since : toHour(at),
      first_seen_at: known?.first_seen_at ?? at,
      last_seen_at: at,
    };
  }
}

const toHour = (at: string): string => `${at.slice(0, 13)}:00:00.000Z`;
