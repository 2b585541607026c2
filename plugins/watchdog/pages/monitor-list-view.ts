import { View, type HttpRequest, type PageResult } from '../../../kernel/contract/index.js';
import { capitalize } from '../../../lib/sentence.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { toWatchdogCaller } from '../model/caller.js';
import { STATES } from '../model/documents.js';
import type { MonitorFilter } from '../monitors/monitor-status-service.js';
import type { WatchdogServices } from '../services.js';
import { listParentChoices, listProjectChoices } from './form-choices.js';
import { exportMonitors } from './monitor-exports.js';
import { toListedMonitor } from './listed-monitor.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';

const PAGE_SIZE = 50;

export async function buildMonitorListView(services: WatchdogServices, request: HttpRequest): Promise<PageResult> {
  const { status, series, clock } = services;
  const { state, alarm, parent, project, q, cursor, format } = request.query as Partial<Record<string, string>>;
  const query = Object.fromEntries(
    Object.entries({ state, alarm, parent, project, q }).filter((one): one is [string, string] => one[1] !== undefined),
  );
  const filter: MonitorFilter = {
    ...(state !== undefined && { state: [state as MonitorState] }),
    ...(alarm !== undefined && { alarm }),
    ...(parent !== undefined && { parent }),
    ...(project !== undefined && { project }),
    ...(q !== undefined && { q }),
  };
  if (format === 'csv') return exportMonitors(services, filter, request);
  const [page, counts, parents, projects] = await Promise.all([
    status.listWorstFirst(
      { ...filter, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) },
      toWatchdogCaller(request.principal),
    ),
    status.getCounts(),
    listParentChoices(services, parent),
    listProjectChoices(services),
  ]);
  const samples = await series.readNewest(page.docs);
  const all = STATES.reduce((sum, one) => sum + counts[one], 0);
  const tabs = [
    { label: 'All', href: '/monitors', active: state === undefined, count: all },
    ...STATES.map((one) => ({
      label: capitalize(one),
      href: `/monitors?state=${one}`,
      active: state === one,
      count: counts[one],
    })),
  ];
  const filtered = [state, alarm, parent, project, q].some((value) => value !== undefined);
  const names = new Map(projects.map(({ value, label }) => [value, label]));
  return new View('monitors', {
    live_topics: 'monitors heartbeats',
    items: page.docs.map((doc) =>
      Object.assign(toListedMonitor(doc, clock.now(), samples.get(doc.id)), {
        project_name: doc.project === null ? null : (names.get(doc.project) ?? doc.project),
      }),
    ),
    next_cursor: page.next,
    tabs,
    parents,
    projects,
    filtered,
    new_probe_href: services.probes()?.getHref(null) ?? null,
    csv_href: `/monitors?${new URLSearchParams({ ...query, format: 'csv' }).toString()}`,
    command: 'aos token create --name web-1 --scopes watchdog:ping --source web-1',
    ...pickWarnings(page),
  });
}
