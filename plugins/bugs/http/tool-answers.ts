/**
 * The routes' answers as an agent sees them (contract 95, MCP): short after a write, without repetition, and with only
 * the fields that an agent needs. Pure.
 */
type Data = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown>;

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);
const dataOf = (value: unknown): Data => (isData(value) ? value : {});
const listOf = (value: unknown): Data[] => (Array.isArray(value) ? value.filter(isData) : []);

const only = (data: Data, names: readonly string[]): Answer =>
  Object.fromEntries(names.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])));
const without = (data: Data, names: readonly string[]): Answer =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

/** After a write: the item and its status. */
export const written = (data: Data): Answer => {
  const item = isData(data['item']) ? data['item'] : data;
  return { ...only(item, ['ref', 'status', 'rev']), ...only(data, ['lease']) };
};

export const reported = (data: Data): Answer => ({
  ...written(data),
  ...only(data, ['id', 'created', 'deduplicated']),
  ...(Array.isArray(data['truncated']) && data['truncated'].length > 0 && { truncated: data['truncated'] }),
});

/** Fields without use for an agent that fixes the item, and an alias. */
const itemOf = (item: Data): Answer => without(item, ['urgency', 'dedup_key']);

export const taken = (data: Data): Answer => ({
  ...data,
  ...(isData(data['item']) && { item: itemOf(data['item']) }),
});

const SHORT = [
  'id',
  'ref',
  'type',
  'project',
  'status',
  'severity',
  'title',
  'exception_class',
  'error_message',
  'file_path',
  'target_agent',
  'assignee',
  'claim',
  'duplicate_of',
  'muted',
  'regression',
  'hit_count',
  'last_seen_at',
  'untrusted_fields',
];

function shortOf(item: Data): Answer {
  const short = only(item, SHORT);
  const outside = item['untrusted_fields'];
  if (Array.isArray(outside)) {
    const kept = (name: string): boolean => Object.hasOwn(short, name.split('.')[0] ?? '');
    short['untrusted_fields'] = (outside as string[]).filter(kept);
  }
  return short;
}

/** A list of items, each in short. */
export const listed = (data: Data): Answer => ({ ...data, items: listOf(data['items']).map(shortOf) });

/** The fields that differ from another occurrence, always with its id and time. */
function difference(occurrence: Data, from: Data): Answer {
  const always = ['id', 'occurred_at'];
  const names = Object.keys(occurrence).filter(
    (name) => name !== 'received_at' && JSON.stringify(occurrence[name]) !== JSON.stringify(from[name]),
  );
  return only(occurrence, [...always, ...names]);
}

/** Entries that only show that an agent works on the item. */
const ROUTINE = new Set(['renewed', 'reclaimed', 'commented']);
const HISTORY = 5;

function entryOf({ at, action, actor, data }: Data): Answer {
  const { from, to, reason, fields, ...rest } = dataOf(data);
  const status = action === 'status' || action === 'severity';
  return {
    at,
    action,
    actor,
    ...(status && { from, to }),
    ...(fields !== undefined && { fields }),
    ...(reason !== undefined && { reason }),
    ...(!status && Object.keys(rest).length > 0 && { changed: JSON.stringify(rest) }),
  };
}

/** An item with its newest occurrence whole; of the others only the fields that differ. */
export const detail = (data: Data): Answer => {
  const [newest, ...others] = listOf(data['occurrences']);
  const history = listOf(data['activity']).filter(({ action }) => !ROUTINE.has(String(action)));
  return {
    item: itemOf(dataOf(data['item'])),
    occurrences: newest === undefined ? [] : [newest, ...others.map((other) => difference(other, newest))],
    comments: data['comments'],
    activity: history.slice(0, HISTORY).map(entryOf),
    ...(isData(data['pull_request']) && { pull_request: data['pull_request'] }),
  };
};
