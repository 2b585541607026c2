import type { CommandSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { formatTable } from '../../../lib/format-table.js';
import { CONNECTION_OPTIONS, getTexts, PAGE_OPTIONS, ServiceClient } from './client.js';

interface Monitor {
  source: string;
  state: string;
  name: string | null;
  project: string | null;
  last_heartbeat_at: string | null;
}

interface MaintenanceWindow {
  id: string;
  sources: string[];
  subtree: string | null;
  until: string | null;
  open: boolean;
}

const API_PATH = '/api/watchdog/v1';
const MINUTES_BY_UNIT: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440 };

function parseDuration(given: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
  if (count === undefined || Number(count) === 0) throw invalid({ for: 'must be such as 30m, 2h or 1d' });
  return Number(count) * (MINUTES_BY_UNIT[unit] ?? 1) * 60_000;
}

export const monitorListCommand: CommandSpec = {
  name: 'monitor list',
  summary: 'List the monitors of a running service',
  options: { ...CONNECTION_OPTIONS, ...PAGE_OPTIONS },
  run: async (call) => {
    const client = await ServiceClient.open(call);
    const query = getTexts(call, ['limit', 'cursor']);
    const answer = await client.request<{ items: Monitor[] }>('GET', `${API_PATH}/monitors`, { query });
    const rows = answer.items.map(({ source, state, last_heartbeat_at, project, name }) => [
      source,
      state,
      last_heartbeat_at ?? 'never',
      project ?? '-',
      name ?? '',
    ]);
    return { json: answer, text: formatTable(['SOURCE', 'STATE', 'LAST HEARTBEAT', 'PROJECT', 'NAME'], rows) };
  },
};

export const monitorPauseCommand: CommandSpec = {
  name: 'monitor pause',
  summary: 'Put a monitor into maintenance and hold its alarms until the end',
  args: ['source'],
  options: {
    ...CONNECTION_OPTIONS,
    for: { type: 'string', value: '30m|2h|1d', field: 'until', summary: 'How long', default: '1h' },
    reason: { type: 'string', value: 'text', summary: 'Reason, shown with the monitor' },
    subtree: { type: 'boolean', summary: 'Include all child monitors' },
  },
  run: async (call) => {
    const [source = ''] = call.args;
    const { options } = call;
    const until = new Date(Date.now() + parseDuration(String(options['for']))).toISOString();
    const body = {
      ...(options['subtree'] === true ? { subtree: source } : { sources: [source] }),
      until,
      ...(typeof options['reason'] === 'string' && { reason: options['reason'] }),
    };
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ window: MaintenanceWindow }>('POST', `${API_PATH}/maintenance`, { body });
    return {
      json: answer,
      text: `${source} is paused until ${answer.window.until ?? until}. "aos monitor resume ${source}" ends it.`,
    };
  },
};

export const monitorResumeCommand: CommandSpec = {
  name: 'monitor resume',
  summary: 'End the pause of a monitor',
  args: ['source'],
  options: CONNECTION_OPTIONS,
  run: async (call) => {
    const [source = ''] = call.args;
    const client = await ServiceClient.open(call);
    const { items } = await client.request<{ items: MaintenanceWindow[] }>('GET', `${API_PATH}/maintenance`);
    // A window of several monitors is not this monitor's pause.
    const own = items.filter(({ open, sources, subtree }) => {
      const named = [...sources, ...(subtree === null ? [] : [subtree])];
      return open && named.length === 1 && named[0] === source;
    });
    for (const { id } of own) await client.request('DELETE', `${API_PATH}/maintenance/${id}`);
    const text = own.length === 0 ? `${source} was not paused.` : `${source} is monitored again.`;
    return { json: { source, ended: own.map(({ id }) => id) }, text };
  },
};
