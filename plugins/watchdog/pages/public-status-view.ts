/** For everyone who knows the URL (contract 30, beyond the specification). */
import { View } from '../../../kernel/contract/index.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from '../model/documents.js';
import { toMaintenanceView } from '../model/monitor-view.js';
import type { WatchdogServices } from '../services.js';
import { toTreeLines } from '../tree/tree-lines.js';
import { buildLongUptimeView, type LongUptimeView } from './uptime-view.js';

const MAX_SHOWN_MONITORS = 500;

/** A parent takes the best rank of its subtree. */
const STATE_RANKS: Readonly<Record<MonitorState, number>> = {
  down: 0,
  warning: 1,
  unknown: 2,
  maintenance: 3,
  stopped: 4,
  up: 5,
};

interface StatusNode {
  name: string;
  state: MonitorState;
  since: string | null;
  suppressed: boolean;
  /** The reason is internal. */
  maintenance_until: string | null;
  /** Null when not on this page. */
  suppressor: string | null;
  uptime: LongUptimeView;
  rank: number;
  children: StatusNode[];
}

/** Names and states only; everything else is internal. */
export async function buildPublicStatusView(
  { ancestry, clock, projects, brands }: WatchdogServices,
  top: MonitorDoc,
): Promise<View> {
  const below = await ancestry.listDescendants(top.source, MAX_SHOWN_MONITORS);
  const parts = toStatusNodes([top, ...below], clock.now());
  const project = top.project === null ? undefined : (await projects.list()).find(({ slug }) => slug === top.project);
  const down = parts.filter(({ state }) => state === 'down').length;
  return new View('status', {
    title: top.name,
    heading: top.name,
    project: project?.name ?? null,
    seller: top.project === null ? null : await brands.find(top.project),
    lines: toTreeLines(parts.slice(0, 1)),
    down,
    all_up: parts.every(({ state }) => state === 'up'),
    uptime: buildLongUptimeView(top, clock.now()),
    at: clock.iso(),
    wide: true,
    refresh_seconds: 60,
  });
}

function toStatusNodes(docs: readonly MonitorDoc[], now: number): StatusNode[] {
  const names = new Map(docs.map(({ source, name }) => [source, name]));
  const bySource = new Map(docs.map((doc) => [doc.source, toStatusNode(doc, names, now)]));
  for (const [i, { source, parent_source }] of docs.entries()) {
    const part = bySource.get(source);
    const parent = i === 0 || parent_source === null ? undefined : bySource.get(parent_source);
    if (part !== undefined) parent?.children.push(part);
  }
  const parts = [...bySource.values()];
  for (const part of parts.toReversed()) {
    part.children.sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name, 'en'));
    part.rank = Math.min(part.rank, part.children[0]?.rank ?? part.rank);
  }
  return parts;
}

function toStatusNode(doc: MonitorDoc, names: ReadonlyMap<string, string>, now: number): StatusNode {
  const { name, state, alarm, suppressed_by, last_state_change_utc, down_since_utc } = doc;
  return {
    name,
    state,
    since: state === 'down' ? down_since_utc : last_state_change_utc,
    // A silence concerns only those who get alerts.
    suppressed: alarm === 'suppressed' && suppressed_by !== null,
    maintenance_until: toMaintenanceView(doc)?.until ?? null,
    suppressor: suppressed_by === null ? null : (names.get(suppressed_by) ?? null),
    uptime: buildLongUptimeView(doc, now),
    rank: STATE_RANKS[state],
    children: [],
  };
}
