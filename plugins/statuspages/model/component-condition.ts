/**
 * The worst of its monitors, now and on each day. Unknown and stopped ones count only when there
 * are no others.
 */
import type { MonitorCondition, MonitorState } from '../../../ports/domain/watchdog.js';
import { HISTORY_DAYS, type StatusPageComponent } from './status-page.js';

export type ComponentState = 'up' | 'warning' | 'down' | 'maintenance' | 'none';

const COMPONENT_STATES: Readonly<Record<MonitorState, ComponentState>> = {
  up: 'up',
  warning: 'warning',
  down: 'down',
  maintenance: 'maintenance',
  unknown: 'none',
  stopped: 'none',
};
const STATES_WORST_FIRST: readonly ComponentState[] = ['down', 'warning', 'maintenance', 'up', 'none'];

export const toComponentState = (state: MonitorState): ComponentState => COMPONENT_STATES[state];

export const findWorstState = (states: Iterable<ComponentState>): ComponentState => {
  const found = new Set(states);
  return STATES_WORST_FIRST.find((state) => found.has(state)) ?? 'none';
};

export interface DayColumn {
  state: 'up' | 'warning' | 'down' | 'none';
  /** Rounded up, so that the page changes at most once a minute; null for the whole day. */
  minutes: number | null;
}

export interface ComponentCondition {
  state: ComponentState;
  days: DayColumn[];
  /** Share of monitored time that was not down; null when not monitored. */
  share: number | null;
}

const DAY_SECONDS = 86_400;

/** @param today days since 1970, UTC */
export function getComponentCondition(monitors: readonly MonitorCondition[], today: number): ComponentCondition {
  const oldest = today - HISTORY_DAYS + 1;
  const [watched, warning, down] = [0, 0, 0].map(() => Array.from({ length: HISTORY_DAYS }, () => 0)) as [
    number[],
    number[],
    number[],
  ];
  const raise = (list: number[], i: number, to: number): void => {
    if (to > (list[i] ?? 0)) list[i] = to;
  };
  for (const { first_day, days } of monitors) {
    if (first_day === null) continue;
    const marked = new Map(days.map(([day, ...rest]) => [day, rest]));
    for (let day = Math.max(first_day, oldest); day <= today; day++) {
      const [w, a, d] = marked.get(day) ?? [day === today ? 0 : DAY_SECONDS, 0, 0];
      raise(watched, day - oldest, w);
      raise(warning, day - oldest, a);
      raise(down, day - oldest, d);
    }
  }
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
  const all = sum(watched);
  return {
    state: findWorstState(monitors.map(({ state }) => toComponentState(state))),
    days: watched.map((w, i) => toDayColumn(w, warning[i] ?? 0, down[i] ?? 0)),
    share: all === 0 ? null : Math.max(0, 1 - sum(down) / all),
  };
}

function toDayColumn(watched: number, warning: number, down: number): DayColumn {
  const minutes = (seconds: number): number => Math.ceil(seconds / 60);
  if (down > 0) return { state: 'down', minutes: minutes(down) };
  if (warning > 0) return { state: 'warning', minutes: minutes(warning) };
  return { state: watched > 0 ? 'up' : 'none', minutes: null };
}

export function listComponentMonitors(
  { sources, subtree }: StatusPageComponent,
  all: MonitorIndex,
): MonitorCondition[] {
  const found = new Map<string, MonitorCondition>();
  const queue = subtree === null ? [] : [subtree];
  for (const source of sources) {
    const one = all.bySource.get(source);
    if (one !== undefined) found.set(source, one);
  }
  const walked = new Set<string>();
  for (let source = queue.pop(); source !== undefined; source = queue.pop()) {
    if (walked.has(source)) continue;
    walked.add(source);
    const one = all.bySource.get(source);
    if (one !== undefined) found.set(source, one);
    queue.push(...(all.below.get(source) ?? []));
  }
  return [...found.values()];
}

export interface MonitorIndex {
  bySource: ReadonlyMap<string, MonitorCondition>;
  below: ReadonlyMap<string, readonly string[]>;
}

export function buildMonitorIndex(monitors: readonly MonitorCondition[]): MonitorIndex {
  const below = new Map<string, string[]>();
  for (const { source, parent_source } of monitors) {
    if (parent_source === null) continue;
    const children = below.get(parent_source) ?? [];
    children.push(source);
    below.set(parent_source, children);
  }
  return { bySource: new Map(monitors.map((one) => [one.source, one])), below };
}
