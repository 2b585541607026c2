/**
 * Takes over monitors of another service. What was imported before is known by its address, or by its name where it has
 * none, and is passed over; a source that is taken gets a number. Each monitor is whole before the next one: a run that
 * breaks off is repeated.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { idOf } from '../model/source.js';
import { ProbedMonitors } from '../monitors/probed.js';
import { ImportedAddresses } from './addresses.js';
import type { ImportedMonitor } from './imported.js';

export interface ImportReport {
  created: string[];
  /** Names of those that were imported before. */
  known: string[];
  /** What has no counterpart, monitor by monitor. */
  notes: { monitor: string; note: string }[];
}

/** Monitors of one import. */
export const MAX_IMPORTED = 10_000;
const PROGRESS_EVERY = 100;

const CALLER: WatchdogCaller = { name: 'command line', token: null, project: null, source: null };

@injectable()
export class Importer {
  constructor(
    @inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'monitors'>,
    @inject(ProbedMonitors) private readonly monitors: ProbedMonitors,
    @inject(ImportedAddresses) private readonly addresses: ImportedAddresses,
  ) {}

  /**
   * @param progress called after every hundred monitors, with how many are done
   * @throws ServiceError validation_failed for more than `MAX_IMPORTED`
   */
  async take(
    imported: readonly ImportedMonitor[],
    progress: (done: number, all: number) => void = () => undefined,
  ): Promise<ImportReport> {
    if (imported.length > MAX_IMPORTED) {
      throw invalid({
        file: `has ${imported.length} monitors; one import takes at most ${MAX_IMPORTED}: split the file`,
      });
    }
    const report: ImportReport = { created: [], known: [], notes: [] };
    let done = 0;
    const sources = new Map<string, string>();
    const names = new Map<string, number>();
    for (const one of parentsFirst(imported)) {
      const before = await this.#before(one);
      if (before === null) sources.set(one.key, await this.#make(one, { sources, names }, report));
      else {
        sources.set(one.key, before);
        report.known.push(before);
      }
      if (++done % PROGRESS_EVERY === 0) progress(done, imported.length);
    }
    return report;
  }

  /** The source under which it is here already; null: it is new. */
  async #before({ address, wanted, fields }: ImportedMonitor): Promise<string | null> {
    if (address !== null) return this.addresses.sourceOf(address);
    const found = await this.deps.monitors.get(idOf(wanted));
    return found !== null && found.deleted_at === null && found.name === fields.name ? wanted : null;
  }

  async #make(
    one: ImportedMonitor,
    { sources, names }: { sources: ReadonlyMap<string, string>; names: Map<string, number> },
    report: ImportReport,
  ): Promise<string> {
    const source = await this.#free(one.wanted, names);
    const parent_source = one.parent_key === null ? null : (sources.get(one.parent_key) ?? null);
    const notes = [...one.notes, ...(await this.#create({ ...one.fields, source, parent_source }, one.probe))];
    if (one.address !== null && !(await this.addresses.keep(one.address, source)))
      notes.push('Its ping address has a form that is not taken over: make it a token of its own.');
    report.created.push(source);
    report.notes.push(...notes.map((note) => ({ monitor: source, note })));
    return source;
  }

  /** With all that is taken: what is refused is left out, and told. */
  async #create(fields: Parameters<ProbedMonitors['create']>[0], probe: object | null): Promise<string[]> {
    const { schedule, timezone, grace_seconds, ...plain } = fields;
    const grace = grace_seconds === undefined ? {} : { grace_seconds };
    const timed = { ...plain, ...(schedule && { schedule, timezone }), ...grace };
    const tries = [
      { ...timed, ...(probe !== null && { probe }) },
      ...(probe === null ? [] : [timed]),
      ...(schedule ? [plain] : []),
    ] as const;
    const notes: string[] = [];
    for (const [at, given] of tries.entries()) {
      try {
        await this.monitors.create(given, CALLER);
        return notes;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'validation_failed' || at === tries.length - 1)
          throw error;
        const faults = Object.entries(error.fields ?? {}).map(([field, text]) => `${field} ${text}`);
        notes.push(`Left out, because it is not taken: ${faults.join('; ')}.`);
      }
    }
    return notes;
  }

  /** @param names the last number of each name, so that a thousand of one name are not tried a million times */
  async #free(wanted: string, names: Map<string, number>): Promise<string> {
    for (let n = (names.get(wanted) ?? 0) + 1; ; n++) {
      const source = n === 1 ? wanted : `${wanted}-${n}`;
      const found = await this.deps.monitors.get(idOf(source));
      if (found !== null && found.deleted_at === null) continue;
      names.set(wanted, n);
      return source;
    }
  }
}

/** Each behind its parent; on a circle nobody has one. */
function parentsFirst(all: readonly ImportedMonitor[]): ImportedMonitor[] {
  const byKey = new Map(all.map((one) => [one.key, one]));
  const depth = (one: ImportedMonitor): number => {
    const seen = new Set<string>();
    let at: ImportedMonitor | undefined = one;
    while (at !== undefined && at.parent_key !== null && !seen.has(at.key)) {
      seen.add(at.key);
      at = byKey.get(at.parent_key);
    }
    return seen.size;
  };
  return all
    .map((one) => ({ one, depth: depth(one) }))
    .toSorted((a, b) => a.depth - b.depth)
    .map(({ one }) => one);
}
