import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, owned } from '../../../kernel/errors.js';
import { collectAll } from '../../../lib/paging.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { DAY_MS, toIsoString, normalizeTime } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import { assertCanAccess, type WatchdogCaller } from '../model/caller.js';
import { validateCron, CronInvalid } from '../model/cron.js';
import { getMonitorId } from '../model/monitor-id.js';
import {
  getWindowKind,
  toWindowView,
  type WindowDoc,
  type WindowKind,
  type WindowView,
} from '../model/maintenance-window.js';
import { MonitorOutbox } from '../timeline/monitor-outbox.js';
import { AnnotationTokenGuard } from '../annotation-token-guard.js';
import { WindowApplier } from './window-applier.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

export const MAX_WINDOW_SOURCES = 500;
const MAX_WINDOWS = 1_000;
/** A forgotten window must not silence a monitor forever. */
const MAX_WINDOW_DURATION_MS = 366 * DAY_MS;
export const MAX_REPEATED_SECONDS = (7 * DAY_MS) / 1000;
const PAGE_SIZE = 500;
const RFC_3339_PATTERN = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

export interface NewMaintenanceWindow {
  sources?: string[];
  subtree?: string | null;
  reason?: string | null;
  /** RFC 3339, UTC; absent: now. */
  from?: string | null;
  until?: string | null;
  schedule?: string | null;
  timezone?: string | null;
  duration_seconds?: number | null;
  managed?: true;
}

@injectable()
export class MaintenanceWindowService {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.windows) private readonly windows: Collection<WindowDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(WindowApplier) private readonly maintenance: WindowApplier,
    @inject(AnnotationTokenGuard) private readonly tokens: AnnotationTokenGuard,
    @inject(MonitorOutbox) private readonly outbox: MonitorOutbox,
  ) {}

  async list(caller: WatchdogCaller, kind: WindowKind = 'maintenance'): Promise<WindowView[]> {
    const now = this.clock.now();
    const windows = await collectAll(this.windows, { limit: PAGE_SIZE });
    const own = windows.filter((window) => getWindowKind(window) === kind);
    const mine = own.filter(({ project }) => caller.project === null || project === caller.project);
    const due = ({ open, open_until, next_from }: WindowView): string =>
      open ? `0 ${open_until ?? ''}` : `1 ${next_from ?? ''}`;
    return mine
      .map((window) => toWindowView(window, now))
      .filter(({ open, next_from }) => open || next_from !== null)
      .toSorted((a, b) => (due(a) < due(b) ? -1 : 1));
  }

  /**
   * If it is already open, its monitors are in it when this resolves.
   * @throws ServiceError validation_failed, not_found, insufficient_scope
   */
  async create(
    given: NewMaintenanceWindow,
    caller: WatchdogCaller,
    kind: WindowKind = 'maintenance',
  ): Promise<WindowView> {
    const { clock, ids, windows } = this;
    await this.tokens.rejectTokens({ reason: given.reason ?? null });
    const now = clock.now();
    const doc: WindowDoc = {
      id: ids.uuid(),
      kind,
      sources: [...new Set(given.sources)],
      subtree: given.subtree ?? null,
      project: caller.project,
      reason: given.reason ? cleanText(given.reason) : null,
      ...parseTimes(given, now),
      ...(given.managed && { managed: given.managed }),
      created_by: caller.name,
      created_at: clock.iso(),
    };
    doc.series = await this.#listSeries(doc, caller);
    if ((await windows.count({ project: doc.project })) >= MAX_WINDOWS)
      throw invalid({ sources: `the limit of ${MAX_WINDOWS} windows is reached: end some of them first` });
    await windows.insert(doc);
    await this.#apply();
    return toWindowView(doc, clock.now());
  }

  /**
   * Checks fields without writing; not whether the monitors exist.
   * @throws ServiceError validation_failed
   */
  check(given: NewMaintenanceWindow): void {
    parseTimes(given, this.clock.now());
    if ((given.sources ?? []).length === 0 && (given.subtree ?? null) === null)
      throw invalid({ sources: 'must contain a monitor, or a `subtree`' });
  }

  /**
   * Its monitors are released by the next evaluator run or heartbeat.
   * @throws ServiceError not_found, insufficient_scope
   */
  async remove(id: string, caller: WatchdogCaller, kind: WindowKind = 'maintenance'): Promise<WindowView> {
    const { windows, clock } = this;
    const found = await windows.get(id);
    const named = kind === 'silence' ? 'silence' : 'maintenance window';
    const known = found !== null && getWindowKind(found) === kind ? found : null;
    const doc = owned(caller.project, known, ({ project }) => project, `${named} ${id.slice(0, 64)}`);
    await windows.remove({ id: doc.id });
    await this.#apply();
    return toWindowView(doc, clock.now());
  }

  async #apply(): Promise<void> {
    const { changed } = await this.maintenance.apply();
    await this.outbox.flush(changed);
  }

  /** @throws ServiceError not_found, insufficient_scope, validation_failed */
  async #listSeries({ sources, subtree }: WindowDoc, caller: WatchdogCaller): Promise<string[]> {
    const named = subtree === null ? sources : [...sources, subtree];
    if (named.length === 0) throw invalid({ sources: 'must contain a monitor, or a `subtree`' });
    const filter = { id: { in: named.map(getMonitorId) }, deleted_at: null };
    const found = await collectAll(this.monitors, { filter, limit: PAGE_SIZE });
    for (const doc of found) assertCanAccess(caller, doc);
    const known = new Set(found.map(({ source }) => source));
    const missing = named.filter((source) => !known.has(source));
    const field = subtree !== null && missing.includes(subtree) ? 'subtree' : 'sources';
    if (missing.length > 0) throw invalid({ [field]: `unknown: ${missing.join(', ').slice(0, 200)}` });
    return found.map(({ series }) => series);
  }
}

type WindowTimes = Pick<WindowDoc, 'from' | 'until' | 'schedule' | 'timezone' | 'duration_seconds'>;

/** @throws ServiceError validation_failed */
function parseTime(field: 'from' | 'until', text: string): string {
  const time = RFC_3339_PATTERN.test(text) ? normalizeTime(text) : null;
  if (time === null) throw invalid({ [field]: 'must be an RFC 3339 timestamp' });
  return time;
}

/** @throws ServiceError validation_failed */
function parseTimes(given: NewMaintenanceWindow, now: number): WindowTimes {
  const { schedule = null, timezone, duration_seconds = null, from = null } = given;
  const zone = timezone ?? 'UTC';
  if (schedule === null) {
    for (const [field, value] of Object.entries({ timezone, duration_seconds }))
      if ((value ?? null) !== null) throw invalid({ [field]: 'cannot be combined with until; it requires a schedule' });
    const start = from === null ? toIsoString(now) : parseTime('from', from);
    if (given.until === undefined || given.until === null)
      throw invalid({ until: 'is required, or a schedule with duration_seconds' });
    const until = parseTime('until', given.until);
    if (until <= start) throw invalid({ until: 'must be later than from' });
    if (Date.parse(until) <= now) throw invalid({ until: 'is over already' });
    if (Date.parse(until) - now > MAX_WINDOW_DURATION_MS) throw invalid({ until: 'must be within a year from now' });
    return { from: start, until, schedule: null, timezone: zone, duration_seconds: null };
  }
  if (from !== null || (given.until ?? null) !== null)
    throw invalid({ schedule: 'cannot be combined with from and until' });
  if (duration_seconds === null) throw invalid({ duration_seconds: 'is required with a schedule' });
  try {
    validateCron(schedule, zone);
  } catch (error) {
    if (error instanceof CronInvalid) throw invalid({ [error.field]: error.message });
    throw error;
  }
  return { from: null, until: null, schedule, timezone: zone, duration_seconds };
}
