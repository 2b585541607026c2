/**
 * Formats responses for agents (contract 95, MCP): short, without repetition, with only the fields
 * that an agent needs.
 */
import { showComments } from './tool-comments.js';
import { compactOccurrence } from './tool-occurrence.js';
import { formatSuspects } from './tool-suspects.js';
import { findRoots, formatLines, shortenTrace, stripRoots } from './tool-text.js';

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
const told = (data: Data): Answer => Object.fromEntries(Object.entries(data).filter(([, value]) => !isEmpty(value)));

function handed(data: Data, comments = true): Answer {
  const { untrusted_fields, comments: last, ...handover } = dataOf(data['handover']);
  const said = told({ ...handover, comments: comments ? (showComments(last) ?? null) : null });
  return Object.keys(said).length === 0 ? {} : { handover: { ...said, untrusted_fields } };
}

const newsOf = (data: Data): Answer => (isEmpty(data['news'] ?? null) ? {} : { news: showComments(data['news']) });

export const formatRejection = (error: Data): Answer => ({ ...error, ...newsOf(error) });

export const formatCommentPage = (data: Data): Answer => ({ ...data, items: showComments(data['items']) });

export const formatWrite = (data: Data): Answer => {
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
const linksOf = (data: Data): Answer => {
  const links = listOf(data['links']).map((link) => only(link, LINK));
  return links.length === 0 ? {} : { links };
};

export const formatLinks = (data: Data): Answer => ({ ...formatWrite(data), ...linksOf(data) });

export const formatSplit = (data: Data): Answer => ({
  ...formatWrite(data),
  ...(isData(data['split_off']) && { split_off: only(data['split_off'], ['ref', 'title', 'hit_count']) }),
  ...(isData(data['split_off']) || !isData(data['preview']) ? {} : { preview: told(data['preview']) }),
});

export const formatReport = (data: Data): Answer => ({
  ...formatWrite(data),
  ...only(data, ['id', 'created', 'deduplicated']),
  ...(Array.isArray(data['truncated']) && data['truncated'].length > 0 && { truncated: data['truncated'] }),
});

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

function itemOf(item: Data, roots: readonly string[]): Answer {
  const {
    app_version,
    last_build,
    exception_class: kind,
    error_message: message,
    stack_trace: trace,
    claim,
    ...rest
  } = told(without(item, item['source'] === 'sdk' ? [...IDLE, 'client_ref'] : IDLE));
  const title = wordOf(rest['title']);
  return {
    ...rest,
    ...(typeof kind === 'string' && !title.startsWith(`${kind}:`) && { exception_class: kind }),
    ...(typeof message === 'string' && !title.includes(message) && { error_message: message }),
    ...(typeof trace === 'string' && { stack_trace: shortenTrace(trace, roots) }),
    ...(app_version !== undefined && app_version !== item['first_build'] && { app_version }),
    ...(last_build !== undefined && last_build !== item['first_build'] && { last_build }),
    ...(isData(claim) && { claim: only(claim, ['agent', 'expires_at']) }),
  };
}

const CALLER_LINES = 2;

/** Returns source lines with the failing line marked: `> 41 return price.total;`. */
function sourceText(source: unknown, line: unknown, around = Infinity): string | null {
  const lines = Object.entries(dataOf(source)).filter(([at]) => Math.abs(Number(at) - Number(line)) <= around);
  if (lines.length === 0) return null;
  return lines.map(([at, code]) => `${Number(at) === line ? '>' : ' '} ${at}  ${String(code)}`).join('\n');
}

const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const framesOf = (occurrence: Data): Data[] => listOf(dataOf(occurrence['context'])['frames']);

function crashOf(item: Data, occurrence: Data, roots: readonly string[]): Answer {
  const context = dataOf(occurrence['context']);
  const line = occurrence['line_no'] ?? item['line_no'];
  const file = occurrence['file_path'] ?? item['file_path'] ?? null;
  const lines = dataOf(context['source']);
  const callers = framesOf(occurrence).flatMap((frame) => {
    const source = sourceText(frame['source'], frame['lineno'], CALLER_LINES);
    if (source === null && frame['locals'] === undefined) return [];
    const path = wordOf(frame['filename'] ?? frame['module']);
    const place = `${stripRoots(path, roots)}:${wordOf(frame['lineno'])} ${wordOf(frame['function'])}`.trimEnd();
    const shown = frame['filename'] === file && wordOf(frame['lineno']) in lines ? null : source;
    const locals = isData(frame['locals']) ? formatLines(frame['locals']) : null;
    return [[place, shown, locals].filter((part) => part !== null).join('\n')];
  });
  const crash = told({
    file: typeof file === 'string' ? stripRoots(file, roots) : file,
    line: line ?? null,
    source: sourceText(context['source'], line),
    locals: isData(context['locals']) ? formatLines(context['locals']) : (context['locals'] ?? null),
    callers: callers.join('\n'),
  });
  return crash['source'] === undefined && crash['locals'] === undefined ? {} : { crash };
}

/** Shown by `crash`, or of no use for the fix. */
const NO_CONTEXT = ['source', 'locals', 'frames', 'threads', 'sdk', 'release', 'dist', 'logger'];

function contextOf(context: unknown): Answer {
  const { contexts, extra, ...rest } = told(without(dataOf(context), NO_CONTEXT));
  const text = [rest, dataOf(contexts), dataOf(extra)].map(formatLines).filter(Boolean).join('\n');
  return text === '' ? {} : { context: text };
}

function besideItem(occurrence: Data, item: Data, hidden: readonly string[], roots: readonly string[]): Answer {
  const { context, ...rest } = told(without(occurrence, ['id', 'received_at', ...hidden]));
  const other = Object.entries(rest).filter(
    ([name, value]) => name === 'untrusted_fields' || JSON.stringify(item[name]) !== JSON.stringify(value),
  );
  const { error_message: message, stack_trace: trace, occurred_at: at, ...shown } = Object.fromEntries(other);
  return {
    ...(at !== item['last_seen_at'] && { occurred_at: at }),
    ...shown,
    ...(typeof message === 'string' && !wordOf(item['title']).includes(message) && { error_message: message }),
    ...(typeof trace === 'string' && { stack_trace: shortenTrace(trace, roots) }),
    ...contextOf(context),
  };
}

function itemWith(item: Data, newest: Data | null): { crash: Answer; item: Answer; occurrence: Answer | null } {
  const occurrence = newest ?? {};
  const roots = findRoots(framesOf(occurrence));
  const crash = crashOf(item, occurrence, roots);
  const place = Object.keys(crash).length > 0 ? ['file_path', 'line_no'] : [];
  const trace = occurrence['stack_trace'];
  const older = typeof trace === 'string' && trace !== item['stack_trace'] ? ['stack_trace'] : [];
  const build = occurrence['app_version'] === item['last_build'] ? ['last_build'] : [];
  return {
    crash,
    item: itemOf(without(item, [...place, ...older, ...build]), roots),
    occurrence: newest && besideItem(occurrence, item, place, roots),
  };
}

const MAX_SHARES = 3;

/** Formats `1.4.0 ×12, 1.3.9 ×2`. A single value would repeat the item. */
function spreadOf(spread: unknown): Answer {
  const { tags, ...kinds } = dataOf(spread);
  const named = (of: Data): string[] =>
    Object.entries(of).flatMap(([name, list]) => {
      const values = listOf(list).slice(0, MAX_SHARES);
      const shares = values.map(({ value, count }) => `${wordOf(value)} ×${wordOf(count)}`).join(', ');
      return values.length < 2 ? [] : [`${name}: ${shares}`];
    });
  const lines = [...named(kinds), ...named(dataOf(tags)).slice(0, MAX_SHARES)];
  return lines.length === 0 ? {} : { spread: lines.join('\n') };
}

const placesOf = (data: Data): Answer => ({
  ...formatSuspects(data),
  ...(typeof data['code_url'] === 'string' && { code_url: data['code_url'] }),
  ...(typeof data['requester'] === 'string' && { requester: data['requester'] }),
  ...spreadOf(data['spread']),
});

const NEAR_TITLE = 80;

const nearOf = (data: Data): Answer => {
  const similar = listOf(data['similar']).map(({ ref, status, title }) => {
    return { ref, status, title: wordOf(title).slice(0, NEAR_TITLE).toWellFormed() };
  });
  return similar.length === 0 ? {} : { similar };
};

export const formatClaim = (data: Data): Answer => {
  if (!isData(data['item'])) return { item: null, ...(isData(data['waiting']) && { waiting: told(data['waiting']) }) };
  const whole = data['item'];
  const newest = isData(data['occurrence']) ? compactOccurrence(data['occurrence'], whole) : null;
  const { crash, item, occurrence } = itemWith(whole, newest);
  return {
    ...crash,
    item: { ...item, ...(isData(item['claim']) && { claim: only(item['claim'], ['agent']) }) },
    ...placesOf(data),
    ...(occurrence && { occurrence }),
    ...nearOf(data),
    ...only(data, ['lease']),
    ...handed(data),
    ...newsOf(data),
  };
};

const SHORT = [
  'ref',
  'type',
  'status',
  'severity',
  'title',
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

export const formatItemList = (data: Data): Answer => ({
  ...data,
  items: listOf(data['items']).map((item) => told(only(item, SHORT))),
});

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
  const { stack_trace: trace, ...rest } = only(occurrence, [...always, ...names]);
  return {
    ...rest,
    ...(trace !== undefined && { stack_trace: shortenTrace(wordOf(trace), findRoots(framesOf(occurrence))) }),
    ...(context.length > 0 && contextOf(Object.fromEntries(context))),
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
    ...(!status && Object.keys(rest).length > 0 && { changed: formatLines(rest) }),
  };
}

export const formatItemDetail = (data: Data): Answer => {
  const whole = dataOf(data['item']);
  const [newest, ...others] = listOf(data['occurrences']).map((one) => compactOccurrence(one, whole));
  const history = listOf(data['activity']).filter(({ action }) => !ROUTINE.has(String(action)));
  const { crash, item, occurrence } = itemWith(whole, newest ?? null);
  return {
    ...crash,
    item,
    ...placesOf(data),
    occurrences:
      newest === undefined
        ? []
        : [{ id: newest['id'], ...occurrence }, ...others.map((other) => difference(other, newest))],
    comments: showComments(data['comments']),
    activity: history.slice(0, HISTORY).map(entryOf),
    ...linksOf(data),
    ...(isData(data['pull_request']) && { pull_request: without(data['pull_request'], ['url']) }),
    ...handed(data, false),
  };
};
