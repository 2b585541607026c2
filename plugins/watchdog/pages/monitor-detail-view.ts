import { getFormFields, toLocalTime, View, type HttpRequest } from '../../../kernel/contract/index.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { MetricHistory } from '../metrics/metric-history-service.js';
import type { MonitorDoc } from '../model/documents.js';
import { toMonitorView } from '../model/monitor-view.js';
import type { WatchdogServices } from '../services.js';
import type { EarlierChange } from '../down-explanation-service.js';
import { getNextDue } from '../model/cron.js';
import { getDeferredAlarmTime, getIntervalSeconds, isLearning, getLimits } from '../model/timing.js';
import { getMonitorPageHref } from './monitor-form.js';
import { toIncidentRow } from './incident-pages.js';
import { buildLongUptimeView } from './uptime-view.js';
import { toListedMonitor } from './listed-monitor.js';
import { formatMetricValue, getMetricUnit } from './metric-format.js';
import { listChecks, buildWarningReason } from './warning-reason.js';
import { buildBadgeSnippets, buildSchedulerSnippets, buildReportingSnippets } from './snippets.js';
import { TOKEN_LIFETIMES, listMonitorTokens } from './monitor-token-pages.js';

const CHART_RANGES = [
  { hours: 24, label: '24 h' },
  { hours: 168, label: '7 d' },
  { hours: 336, label: '14 d' },
];
const MAX_TIMELINE_ENTRIES = 20;
const MAX_INCIDENTS = 5;
const MAX_DUE_TIMES = 5;

const ICONS: Readonly<Record<string, string>> = {
  transition: 'activity',
  alarm: 'alert',
  suppression: 'mute',
  annotation: 'flag',
};

const sortUnusualFirst = (metrics: Record<string, MetricHistory>): [string, MetricHistory][] => {
  const weight = ([, { deviation }]: [string, MetricHistory]): number =>
    deviation.significant ? Math.abs(deviation.zscore ?? 0) : 0;
  return Object.entries(metrics).toSorted((a, b) => weight(b) - weight(a));
};

function toChart(name: string, { latest, points, baseline, deviation }: MetricHistory): object {
  const { percent, direction, significant } = deviation;
  const short = (value: number | null): string => formatMetricValue(value, name);
  const away = deviation.absolute === null ? null : Math.abs(deviation.absolute);
  const far = percent === null ? short(away) : `${Math.round(Math.abs(percent))} %`;
  return {
    name,
    latest: { at: latest.t, value: short(latest.v) },
    unit: getMetricUnit(name),
    points,
    mean: baseline.mean,
    stddev: baseline.stddev,
    mean_text: short(baseline.mean),
    min: short(points.reduce((low, { min }) => Math.min(low, min), Infinity)),
    max: short(points.reduce((high, { max }) => Math.max(high, max), -Infinity)),
    sufficient: baseline.sufficient,
    n: baseline.n,
    significant,
    deviation: direction === 'equal' ? 'normal' : `${far} ${direction} normal`,
  };
}

export async function buildMonitorDetailView(
  services: WatchdogServices,
  doc: MonitorDoc,
  request: HttpRequest,
  { deferred, errors }: { deferred: boolean; errors: Record<string, string> },
): Promise<View> {
  const { histories, timeline, clock, baseUrl, timezone } = services;
  const hours = Number(request.query['hours'] ?? 24);
  const cursor = request.query['cursor'];
  const caller = toWatchdogCaller(request.principal);
  const probes = services.probes();
  const [history, events, tokens, probe, incidents] = await Promise.all([
    histories.getHistory(doc, { hours, points: 240 }),
    timeline.listPage(
      { source: doc.source, limit: MAX_TIMELINE_ENTRIES, ...(typeof cursor === 'string' && { cursor }) },
      caller,
    ),
    listMonitorTokens(services, doc.source, request),
    probes?.find(doc.source) ?? null,
    services.incidents.listPage({ source: doc.source, limit: MAX_INCIDENTS }, caller),
  ]);
  const down = await services.explanations.explain(doc, probe !== null);
  const open = doc.state === 'down' ? incidents.items.find(({ id }) => id === doc.incident_id) : undefined;
  const view = toMonitorView(doc);
  const row = Object.assign(toListedMonitor(doc, clock.now()), { uptime: buildLongUptimeView(doc, clock.now()) });
  const here = getMonitorPageHref(doc.source);
  const url = baseUrl();
  return new View('monitor', {
    title: doc.name,
    live_topics: formatLiveTopic('monitor', doc.source),
    crumbs: [{ label: 'Monitors', href: '/monitors' }, { label: doc.source }],
    monitor: view,
    row,
    reporting: doc.state !== 'down' && row.overdue === null,
    evaluated: ['up', 'warning', 'down'].includes(doc.state),
    here,
    dues: listDueTimes(doc, clock.now()),
    new_window: `/maintenance/new?source=${encodeURIComponent(doc.source)}`,
    held_down: doc.held_state === 'down',
    spans: CHART_RANGES.map((span) => ({
      label: span.label,
      href: `${here}?hours=${span.hours}`,
      active: span.hours === hours,
    })),
    charts: sortUnusualFirst(history.metrics).map(([name, metric]) => toChart(name, metric)),
    history: { from: history.from, to: history.to, bucket: history.bucket_seconds },
    reason:
      doc.state === 'warning'
        ? buildWarningReason(view, row.overdue, doc.schedule || doc.period_seconds ? null : getIntervalSeconds(doc))
        : null,
    checks: listChecks(view),
    raw: Object.keys(view.metrics_json).length === 0 ? null : JSON.stringify(view.metrics_json, null, 2),
    events: events.items.map((event) => ({ ...event, icon_name: ICONS[event.kind] ?? 'flag' })),
    next_cursor: events.next_cursor,
    facts: listFacts(doc, await findProjectName(services, doc.project)),
    alarm_at:
      deferred && doc.released_at !== null
        ? toIsoOrNull(getDeferredAlarmTime(Date.parse(doc.released_at), getIntervalSeconds(doc)))
        : null,
    tokens,
    live_tokens: tokens?.filter(({ state }) => state === 'active').length ?? 0,
    may_issue: tokens !== null,
    lives: TOKEN_LIFETIMES,
    form: getFormFields(request),
    errors,
    incidents: incidents.items.map(toIncidentRow),
    open_incident: open && Object.assign(toIncidentRow(open), { is_mine: open.acknowledged_by === caller.name }),
    incidents_href: incidents.has_more ? `/incidents?source=${encodeURIComponent(doc.source)}` : null,
    down: down && { ...down, changes: down.changes.map(toChangeRow) },
    probe: probe && { ...probe, summary: probes?.formatSummary(probe) },
    probe_href: probes?.getHref(doc.source) ?? null,
    badges: buildBadgeSnippets(url, doc.id, doc.name),
    snippets: buildReportingSnippets(url, doc.source, '$SVC_TOKEN', timezone),
    schedulers: buildSchedulerSnippets(url, '$SVC_TOKEN'),
    token_command: `aos token create --name '${doc.source}' --scopes watchdog:ping --source '${doc.source}'`,
  });
}

const toChangeRow = ({ source, ...change }: EarlierChange): object => ({
  ...change,
  source,
  href: source === null ? null : getMonitorPageHref(source),
});

function listDueTimes({ schedule, timezone }: MonitorDoc, now: number): { at: string; local: string }[] {
  const zone = timezone ?? 'UTC';
  const found: { at: string; local: string }[] = [];
  let at = schedule ? getNextDue(schedule, zone, now) : null;
  while (at !== null && found.length < MAX_DUE_TIMES) {
    found.push({ at: toIsoOrNull(at), local: `${toLocalTime(at, zone).slice(0, 16).replace('T', ' ')} ${zone}` });
    at = getNextDue(schedule ?? '', zone, at);
  }
  return found;
}

const toIsoOrNull = (ms: number): string => new Date(ms).toISOString();

async function findProjectName({ projects }: WatchdogServices, slug: string | null): Promise<string | null> {
  if (slug === null) return null;
  return (await projects.list()).find((project) => project.slug === slug)?.name ?? slug;
}

function listFacts(doc: MonitorDoc, project: string | null): object[] {
  const interval = getIntervalSeconds(doc);
  const origin =
    doc.beat_interval !== null ? 'from its heartbeat' : doc.interval_seconds !== null ? 'configured' : 'default';
  const last = doc.last_heartbeat_at === null ? null : Date.parse(doc.last_heartbeat_at);
  const running = doc.state === 'up' || doc.state === 'warning';
  const learning = isLearning(doc);
  const times = last === null || !running || learning ? null : getLimits(doc, last);
  return [
    { label: 'Last heartbeat', at: doc.last_heartbeat_at },
    doc.schedule
      ? { label: 'Schedule', value: `${doc.schedule} (${doc.timezone ?? 'UTC'})`, mono: true }
      : doc.period_seconds
        ? { label: 'Period', value: `${formatMetricValue(doc.period_seconds)} s` }
        : {
            label: 'Interval',
            value: learning ? 'none until its fifth ping' : `${formatMetricValue(interval)} s (${origin})`,
          },
    ...(doc.schedule || doc.period_seconds
      ? [{ label: 'Grace period', value: `${formatMetricValue(doc.grace_seconds ?? 0)} s` }]
      : []),
    ...(doc.max_run_seconds
      ? [{ label: 'Maximum run time', value: `${formatMetricValue(doc.max_run_seconds)} s` }]
      : []),
    ...(times === null
      ? []
      : [
          { label: 'Warning after', at: toIsoOrNull(times.warn) },
          { label: 'Down after', at: toIsoOrNull(times.down) },
        ]),
    { label: 'Last status', value: doc.last_status },
    { label: 'Version', value: doc.app_version },
    { label: 'System', value: doc.os },
    ...(doc.parent_source === null
      ? []
      : [{ label: 'Parent', value: doc.parent_source, href: getMonitorPageHref(doc.parent_source) }]),
    { label: 'Project', value: project },
    { label: 'Created', at: doc.created_at },
    { label: 'ID', value: doc.id, mono: true },
  ];
}
