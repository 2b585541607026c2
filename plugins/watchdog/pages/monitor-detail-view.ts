import { getFormFields, View, type HttpRequest } from '../../../kernel/contract/index.js';
import { HOUR_MS } from '../../../lib/time.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { MonitorDoc } from '../model/documents.js';
import type { IncidentView } from '../model/incident.js';
import { toMonitorView } from '../model/monitor-view.js';
import type { WatchdogServices } from '../services.js';
import { toIncidentRow } from './incident-pages.js';
import { toListedMonitor } from './listed-monitor.js';
import { getMonitorPageHref } from './monitor-form.js';
import { TOKEN_LIFETIMES, listMonitorTokens } from './monitor-token-pages.js';
import { buildBadgeSnippets, buildReportingSnippets, buildSchedulerSnippets } from './snippets.js';
import { buildLongUptimeView } from './uptime-view.js';
import { listChecks } from './warning-reason.js';
import { sortUnusualFirst, toChart, toResponseChart } from './monitor-charts.js';
import { listDueTimes, listFacts } from './monitor-facts.js';
import { buildMonitorHead, type MonitorTab } from './monitor-head.js';

const CHART_RANGES = [
  { hours: 24, label: '24 h' },
  { hours: 168, label: '7 d' },
  { hours: 336, label: '14 d' },
];
const MAX_TIMELINE_ENTRIES = 20;
const MAX_SHOWN_ENTRIES = 5;
const MAX_SHOWN_CHARTS = 4;
const MAX_SHOWN_INCIDENTS = 5;
const MAX_CHART_INCIDENTS = 100;

const ICONS: Readonly<Record<string, string>> = {
  transition: 'activity',
  alarm: 'alert',
  suppression: 'mute',
  annotation: 'flag',
};

export interface MonitorViewOptions {
  deferred: boolean;
  /** Of the form that creates a token. */
  errors: Record<string, string>;
  tab: MonitorTab;
}

export async function buildMonitorDetailView(
  services: WatchdogServices,
  doc: MonitorDoc,
  request: HttpRequest,
  { deferred, errors, tab }: MonitorViewOptions,
): Promise<View> {
  const probes = services.probes();
  const probe = (await probes?.find(doc.source)) ?? null;
  const shared = {
    title: doc.name,
    live_topics: formatLiveTopic('monitor', doc.source),
    crumbs: [{ label: 'Monitors', href: '/monitors' }, { label: doc.source }],
    head: await buildMonitorHead(services, doc, request, { tab, deferred, probed: probe !== null }),
    monitor: toMonitorView(doc),
    probe: probe && { ...probe, summary: probes?.formatSummary(probe) },
    probe_href: probes?.getHref(doc.source) ?? null,
  };
  if (tab === 'setup')
    return new View('monitor-setup', { ...shared, ...(await loadSetup(services, doc, request, errors)) });
  if (tab === 'events') return new View('monitor-events', { ...shared, ...(await loadEvents(services, doc, request)) });
  const metrics = await loadMetrics(services, doc, request, tab);
  if (tab === 'metrics') return new View('monitor-metrics', { ...shared, ...metrics });
  return new View('monitor', { ...shared, ...metrics, ...(await loadOverview(services, doc, request)) });
}

async function loadMetrics(services: WatchdogServices, doc: MonitorDoc, request: HttpRequest, tab: MonitorTab) {
  const { histories, clock } = services;
  const hours = Number(request.query['hours'] ?? 24);
  const now = clock.now();
  const [history, incidents] = await Promise.all([
    histories.getHistory(doc, { hours, points: 240 }),
    listIncidentsSince(services, doc, request, now - hours * HOUR_MS),
  ]);
  const row = toListedMonitor(doc, now);
  const response = toResponseChart(history.metrics, incidents, now);
  const sorted = sortUnusualFirst(history.metrics);
  const cards = tab === 'metrics' ? sorted : sorted.filter(([name]) => name !== response?.metric);
  const here = getMonitorPageHref(doc.source);
  const raw = toMonitorView(doc).metrics_json;
  return {
    row,
    reporting: doc.state !== 'down' && row.overdue === null,
    spans: CHART_RANGES.map((span) => ({
      label: span.label,
      href: `${here}?${tab === 'metrics' ? 'tab=metrics&' : ''}hours=${span.hours}`,
      active: span.hours === hours,
    })),
    response: response && { ...response, ...toChart([response.metric, history.metrics[response.metric] as never]) },
    charts: cards.slice(0, tab === 'metrics' ? cards.length : MAX_SHOWN_CHARTS).map(toChart),
    more_charts: tab === 'metrics' ? 0 : Math.max(0, cards.length - MAX_SHOWN_CHARTS),
    has_metrics: sorted.length > 0,
    history: { from: history.from, to: history.to, bucket: history.bucket_seconds },
    raw: Object.keys(raw).length === 0 ? null : JSON.stringify(raw, null, 2),
  };
}

/** Also those that began earlier and end within. */
async function listIncidentsSince(
  { incidents }: WatchdogServices,
  { source }: MonitorDoc,
  { principal }: Pick<HttpRequest, 'principal'>,
  from: number,
): Promise<IncidentView[]> {
  const page = await incidents.listPage({ source, limit: MAX_CHART_INCIDENTS }, toWatchdogCaller(principal));
  return page.items.filter(({ ended_at }) => ended_at === null || Date.parse(ended_at) > from);
}

async function loadOverview(services: WatchdogServices, doc: MonitorDoc, request: HttpRequest) {
  const { timeline, clock, incidents, projects } = services;
  const caller = toWatchdogCaller(request.principal);
  const [events, past, all] = await Promise.all([
    timeline.listPage({ source: doc.source, limit: MAX_SHOWN_ENTRIES }, caller),
    incidents.listPage({ source: doc.source, limit: MAX_SHOWN_INCIDENTS }, caller),
    projects.list(),
  ]);
  const checks = listChecks(toMonitorView(doc));
  const isContradicted = doc.state !== 'up' && checks.some(({ state }) => state === 'failed');
  const age = clock.now() - Date.parse(doc.created_at);
  return {
    uptime: buildLongUptimeView(doc, clock.now()),
    age_days: Math.floor(age / (24 * HOUR_MS)),
    dues: listDueTimes(doc, clock.now()),
    checks,
    // "ok" next to a failed check says nothing.
    message: isContradicted && /^(?:ok(?:ay)?|up|success)\W*$/i.test(doc.message ?? '') ? null : doc.message,
    events: toEventRows(events.items),
    has_more_events: events.next_cursor !== null,
    incidents: past.items.map(toIncidentRow),
    incidents_href: past.has_more ? `/incidents?source=${encodeURIComponent(doc.source)}` : null,
    facts: listFacts(doc, all.find(({ slug }) => slug === doc.project)?.name ?? doc.project),
  };
}

const toEventRows = <T extends { kind: string }>(items: readonly T[]): (T & { icon_name: string })[] =>
  items.map((event) => ({ ...event, icon_name: ICONS[event.kind] ?? 'flag' }));

async function loadEvents({ timeline }: WatchdogServices, doc: MonitorDoc, request: HttpRequest) {
  const cursor = request.query['cursor'];
  const query = { source: doc.source, limit: MAX_TIMELINE_ENTRIES, ...(typeof cursor === 'string' && { cursor }) };
  const page = await timeline.listPage(query, toWatchdogCaller(request.principal));
  return { events: toEventRows(page.items), next_cursor: page.next_cursor };
}

async function loadSetup(
  services: WatchdogServices,
  doc: MonitorDoc,
  request: HttpRequest,
  errors: Record<string, string>,
) {
  const url = services.baseUrl();
  const tokens = await listMonitorTokens(services, doc.source, request);
  return {
    tokens,
    may_issue: tokens !== null,
    lives: TOKEN_LIFETIMES,
    form: getFormFields(request),
    errors,
    ping_url: `${url}/ping/$SVC_TOKEN`,
    badges: buildBadgeSnippets(url, doc.id, doc.name),
    snippets: buildReportingSnippets(url, doc.source, '$SVC_TOKEN', services.timezone),
    schedulers: buildSchedulerSnippets(url, '$SVC_TOKEN'),
    token_command: `aos token create --name '${doc.source}' --scopes watchdog:ping --source '${doc.source}'`,
  };
}

/** For the confirmation of a deletion. */
export async function countLiveTokens(
  services: WatchdogServices,
  doc: MonitorDoc,
  request: HttpRequest,
): Promise<number> {
  const tokens = await listMonitorTokens(services, doc.source, request);
  return tokens?.filter(({ state }) => state === 'active').length ?? 0;
}
