/**
 * The routes' answers as an agent sees them (contract 95, MCP): short after a write, without repetition, and with only
 * the fields that an agent needs. Pure.
 */
import { suspectsOf } from './tool-suspects.js';

import { compact } from './tool-occurrence.js';

type Data = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown>;

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);
const dataOf = (value: unknown): Data => (isData(value) ? value : {});
const listOf = (value: unknown): Data[] => (Array.isArray(value) ? value.filter(isData) : []);

const only = (data: Data, names: readonly string[]): Answer =>
  Object.fromEntries(names.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])));
const without = (data: Data, names: readonly string[]): Answer =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
/** The fields that are not empty. */
const told = (data: Data): Answer => Object.fromEntries(Object.entries(data).filter(([, value]) => !isEmpty(value)));

/** The handover, or nothing when there is none. */
function handed(data: Data, comments = true): Answer {
  const { untrusted_fields, ...handover } = dataOf(data['handover']);
  const said = told(comments ? handover : without(handover, ['comments']));
  return Object.keys(said).length === 0 ? {} : { handover: { ...said, untrusted_fields } };
}

/** News that the holder must be told with the answer to a write. */
const newsOf = (data: Data): Answer => (isEmpty(data['news'] ?? null) ? {} : { news: data['news'] });

/** The answer to a write: the item and its status. */
export const written = (data: Data): Answer => {
  const item = isData(data['item']) ? data['item'] : data;
  return {
    ...only(item, ['ref', 'status', 'rev']),
    ...only(data, ['lease']),
    ...(typeof data['latest_build'] === 'string' && { latest_build: data['latest_build'] }),
    ...handed(data),
    ...newsOf(data),
  };
};

const LINK = ['kind', 'ref', 'title', 'status', 'untrusted_fields'];
/** Links in short; nothing where there are none. */
const linksOf = (data: Data): Answer => {
  const links = listOf(data['links']).map((link) => only(link, LINK));
  return links.length === 0 ? {} : { links };
};

/** The answer to a write of links: the item, and all its links. */
export const linked = (data: Data): Answer => ({ ...written(data), ...linksOf(data) });

/** The answer to a split, or to its preview. */
export const parted = (data: Data): Answer => ({
  ...written(data),
  ...(isData(data['split_off']) && { split_off: only(data['split_off'], ['ref', 'title', 'hit_count']) }),
  ...(isData(data['split_off']) || !isData(data['preview']) ? {} : { preview: told(data['preview']) }),
});

export const reported = (data: Data): Answer => ({
  ...written(data),
  ...only(data, ['id', 'created', 'deduplicated']),
  ...(Array.isArray(data['truncated']) && data['truncated'].length > 0 && { truncated: data['truncated'] }),
});

/** Fields without use for an agent that fixes the item, and an alias. */
const IDLE = [
  'urgency',
  'dedup_key',
  'hour_count',
  'flooded_count',
  'late_count',
  'claim_count',
  'source',
  'created_at',
  'updated_at',
  'first_seen_at',
  'severity_locked',
  'muted_by_rule_id',
  'rev',
];

function itemOf(item: Data): Answer {
  const { app_version, claim, ...rest } = told(
    without(item, item['source'] === 'sdk' ? [...IDLE, 'client_ref'] : IDLE),
  );
  return {
    ...rest,
    ...(app_version !== undefined && app_version !== item['first_build'] && { app_version }),
    ...(isData(claim) && { claim: only(claim, ['agent', 'expires_at']) }),
  };
}

/** Lines of source, the line of the error marked: `> 41  return price.total;`. */
function sourceText(source: unknown, line: unknown): string | null {
  const lines = Object.entries(dataOf(source));
  if (lines.length === 0) return null;
  return lines.map(([at, code]) => `${Number(at) === line ? '>' : ' '} ${at}  ${String(code)}`).join('\n');
}

const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** The place of the failure: file, line, source and locals of the application's own frame, and its callers. */
function crashOf(item: Data, occurrence: Data): Answer {
  const context = dataOf(occurrence['context']);
  const line = occurrence['line_no'] ?? item['line_no'];
  const file = occurrence['file_path'] ?? item['file_path'] ?? null;
  const lines = dataOf(context['source']);
  const callers = listOf(context['frames']).flatMap((frame) => {
    const source = sourceText(frame['source'], frame['lineno']);
    if (source === null && frame['locals'] === undefined) return [];
    const place = [frame['filename'] ?? frame['module'], frame['lineno']].map(wordOf).join(':');
    // Lines that stand around the place of the failure are told there.
    const shown = frame['filename'] === file && wordOf(frame['lineno']) in lines ? null : source;
    return [told({ place, function: frame['function'] ?? null, source: shown, locals: frame['locals'] ?? null })];
  });
  const crash = told({
    file,
    line: line ?? null,
    source: sourceText(context['source'], line),
    locals: context['locals'] ?? null,
    callers,
  });
  return crash['source'] === undefined && crash['locals'] === undefined ? {} : { crash };
}

/** Told by `crash`, or of no use for the fix. */
const NO_CONTEXT = ['source', 'locals', 'frames', 'threads', 'sdk', 'release', 'dist', 'logger'];

/** The parts of the context that no other field tells. */
function contextOf(context: unknown): Answer {
  const rest = told(without(dataOf(context), NO_CONTEXT));
  return Object.keys(rest).length === 0 ? {} : { context: rest };
}

/** An occurrence beside its item: fields that both have appear once. */
function besideItem(occurrence: Data, item: Data): Answer {
  const { context, ...rest } = told(occurrence);
  const other = Object.entries(rest).filter(
    ([name, value]) =>
      name === 'id' || name === 'untrusted_fields' || JSON.stringify(item[name]) !== JSON.stringify(value),
  );
  const { received_at: _, ...told_once } = Object.fromEntries(other);
  return { ...told_once, ...contextOf(context) };
}

/** Characters from which a text appears only once. */
const LONG = 40;

/** An occurrence without the parts that `crash` tells, and without long texts that the item has as well. */
function wholeOf(occurrence: Data, item: Data): Answer {
  const { context, ...rest } = occurrence;
  const same = ['stack_trace', 'error_message'].filter((name) => {
    const text = rest[name];
    return typeof text === 'string' && text.length > LONG && text === item[name];
  });
  const outside = (Array.isArray(rest['untrusted_fields']) ? rest['untrusted_fields'] : []) as string[];
  return {
    ...rest,
    ...(isData(context) ? contextOf(context) : only(occurrence, ['context'])),
    ...Object.fromEntries(same.map((name) => [name, `=item.${name}`])),
    untrusted_fields: outside.filter((name) => !same.includes(name)),
  };
}

/** Values of one kind that are told, and keys of tags. */
const MOST_SHARES = 3;

/** Where it happens, of what differs: `1.4.0 ×12, 1.3.9 ×2`. One value alone tells nothing that the item does not. */
function spreadOf(spread: unknown): Answer {
  const { tags, ...kinds } = dataOf(spread);
  const shares = (list: unknown): string[] => {
    const values = listOf(list).slice(0, MOST_SHARES);
    return values.length < 2 ? [] : [values.map(({ value, count }) => `${wordOf(value)} ×${wordOf(count)}`).join(', ')];
  };
  const named = (of: Data): Answer =>
    Object.fromEntries(Object.entries(of).flatMap(([name, list]) => shares(list).map((text) => [name, text])));
  const byTag = Object.entries(named(dataOf(tags))).slice(0, MOST_SHARES);
  const told = { ...named(kinds), ...(byTag.length > 0 && { tags: Object.fromEntries(byTag) }) };
  return Object.keys(told).length === 0 ? {} : { spread: told };
}

/** The code in its repository, where else it happens, and what may have brought it. */
const placesOf = (data: Data): Answer => ({
  ...suspectsOf(data),
  ...(typeof data['code_url'] === 'string' && { code_url: data['code_url'] }),
  ...spreadOf(data['spread']),
});

/** A claimed item: the place of the failure comes first. */
export const taken = (data: Data): Answer => {
  const item = dataOf(data['item']);
  const occurrence = compact(dataOf(data['occurrence']), item);
  if (!isData(data['item'])) return { item: null, ...(isData(data['waiting']) && { waiting: told(data['waiting']) }) };
  return {
    ...crashOf(item, occurrence),
    item: itemOf(item),
    ...placesOf(data),
    ...(isData(data['occurrence']) && { occurrence: besideItem(occurrence, item) }),
    ...only(data, ['lease']),
    ...handed(data),
  };
};

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
  'people',
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

/** A list of items in short form. */
export const listed = (data: Data): Answer => ({ ...data, items: listOf(data['items']).map(shortOf) });

/** The fields that differ from another occurrence, always with its id and time. */
function difference(occurrence: Data, from: Data): Answer {
  const always = ['id', 'occurred_at'];
  const names = Object.keys(occurrence).filter(
    (name) =>
      !['received_at', 'context'].includes(name) && JSON.stringify(occurrence[name]) !== JSON.stringify(from[name]),
  );
  const other = dataOf(from['context']);
  const context = Object.entries(dataOf(occurrence['context'])).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name]),
  );
  return {
    ...only(occurrence, [...always, ...names]),
    ...(context.length > 0 && { context: Object.fromEntries(context) }),
  };
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

/** An item with its newest occurrence whole; the others show only fields that differ. */
export const detail = (data: Data): Answer => {
  const item = dataOf(data['item']);
  const [newest, ...others] = listOf(data['occurrences']).map((one) => compact(one, item));
  const history = listOf(data['activity']).filter(({ action }) => !ROUTINE.has(String(action)));
  return {
    ...crashOf(item, newest ?? {}),
    item: itemOf(item),
    ...placesOf(data),
    occurrences:
      newest === undefined ? [] : [wholeOf(newest, item), ...others.map((other) => difference(other, newest))],
    comments: data['comments'],
    activity: history.slice(0, HISTORY).map(entryOf),
    ...linksOf(data),
    // Its address stands in the item.
    ...(isData(data['pull_request']) && { pull_request: without(data['pull_request'], ['url']) }),
    ...handed(data, false),
  };
};
