import type { Json } from '../../../../ports/store/index.js';

export interface ContextTable {
  name: string;
  rows: { name: string; value: Json }[];
}

const EXCLUDED_KEYS = new Set(['frames', 'source', 'locals', 'threads', 'request', 'missing_source_maps', 'contexts']);
const TABLE_NAMES: Readonly<Record<string, string>> = {
  device: 'Device',
  os: 'Operating system',
  client_os: 'Operating system of the client',
  browser: 'Browser',
  runtime: 'Runtime',
  app: 'Application',
  gpu: 'Graphics',
  culture: 'Language and region',
  trace: 'Trace',
  user: 'User',
  extra: 'Extra',
};
const TABLE_ORDER = ['device', 'os', 'client_os', 'browser', 'runtime', 'app', 'gpu', 'culture', 'trace', 'user'];
const MAX_TABLES = 40;
const MAX_ROWS = 100;

type Fields = { [key: string]: Json };
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function buildContextTables(context: Json): ContextTable[] {
  if (!isFields(context)) return [];
  const own = Object.entries(context).filter(([name]) => !EXCLUDED_KEYS.has(name));
  const contexts = isFields(context['contexts']) ? Object.entries(context['contexts']) : [];
  const [plain, objects] = [own.filter(([, value]) => !isFields(value)), own.filter(([, value]) => isFields(value))];
  const named = [...contexts, ...objects].toSorted(([a], [b]) => getTableRank(a) - getTableRank(b));
  return [['', Object.fromEntries(plain)] as const, ...named]
    .flatMap(([name, value]) => buildTables(name, value))
    .slice(0, MAX_TABLES);
}

const getTableRank = (name: string): number => {
  const at = TABLE_ORDER.indexOf(name);
  return at >= 0 ? at : name === 'extra' ? TABLE_ORDER.length + 1 : TABLE_ORDER.length;
};

function buildTables(kind: string, value: Json): ContextTable[] {
  const name = kind === '' ? 'Event' : Object.hasOwn(TABLE_NAMES, kind) ? (TABLE_NAMES[kind] ?? kind) : kind;
  if (!isFields(value)) return value === null || value === '' ? [] : [{ name, rows: [{ name: kind, value }] }];
  const rows = Object.entries(value)
    .filter(([key, inner]) => inner !== null && inner !== '' && !(key === 'type' && inner === kind))
    .slice(0, MAX_ROWS)
    .map(([key, inner]) => ({ name: key, value: inner }));
  return rows.length === 0 ? [] : [{ name, rows }];
}
