/** /monitors */
import { View, type HttpRequest } from '../../../kernel/contract.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import { callerOf } from '../model/caller.js';
import { STATES } from '../model/documents.js';
import type { WatchdogServices } from '../services.js';
import { parentsIn, projectsIn } from './choices.js';
import { rowOf } from './row.js';
import { warned } from '../../../ports/store/left-out.js';

const PAGE = 50;

const TONES: Readonly<Record<MonitorState, string>> = {
  up: 'success',
  warning: 'warning',
  down: 'critical',
  unknown: 'neutral',
  stopped: 'neutral',
  maintenance: 'info',
};

/** Parts of a share bar. */
export const sharesOf = (counts: Readonly<Record<MonitorState, number>>): object[] =>
  STATES.filter((state) => counts[state] > 0).map((state) => ({
    label: state,
    value: counts[state],
    tone: TONES[state],
  }));

export async function listView(services: WatchdogServices, request: HttpRequest): Promise<View> {
  const { status, series, clock } = services;
  const { state, alarm, parent, project, q, cursor } = request.query as Partial<Record<string, string>>;
  const [page, counts, parents, projects] = await Promise.all([
    status.worstFirst(
      {
        limit: PAGE,
        ...(state !== undefined && { state: [state as MonitorState] }),
        ...(alarm !== undefined && { alarm }),
        ...(parent !== undefined && { parent }),
        ...(project !== undefined && { project }),
        ...(q !== undefined && { q }),
        ...(cursor !== undefined && { cursor }),
      },
      callerOf(request.principal),
    ),
    status.counts(),
    parentsIn(services, parent),
    projectsIn(services),
  ]);
  const samples = await series.newest(page.docs);
  const all = STATES.reduce((sum, one) => sum + counts[one], 0);
  const tabs = [
    { label: 'All', href: '/monitors', active: state === undefined, count: all },
    ...STATES.map((one) => ({ label: one, href: `/monitors?state=${one}`, active: state === one, count: counts[one] })),
  ];
  const filtered = [state, alarm, parent, project, q].some((value) => value !== undefined);
  const names = new Map(projects.map(({ value, label }) => [value, label]));
  return new View('monitors', {
    live_topics: 'monitors heartbeats',
    items: page.docs.map((doc) =>
      Object.assign(rowOf(doc, clock.now(), samples.get(doc.id)), {
        project_name: doc.project === null ? null : (names.get(doc.project) ?? doc.project),
      }),
    ),
    next_cursor: page.next,
    tabs,
    parents,
    projects,
    filtered,
    new_probe_href: services.probes()?.href(null) ?? null,
    command: 'aos token create --name web-1 --scopes watchdog:ping --source web-1',
    ...warned(page),
  });
}
