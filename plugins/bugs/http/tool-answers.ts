/** Responses for agents (contract 95, MCP): only the fields that they need. */
import { formatComments } from './tool-comments.js';
import { formatOccurrence } from './tool-occurrence.js';
import { formatSuspects } from './tool-suspects.js';
import { findRoots, formatLines, shortenTrace, stripRoots } from './tool-text.js';

type JsonObject = Readonly<Record<string, unknown>>;
type ToolAnswer = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const toObjectList = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const pickFields = (data: JsonObject, names: readonly string[]): ToolAnswer =>
  Object.fromEntries(names.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])));
const omitFields = (data: JsonObject, names: readonly string[]): ToolAnswer =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
const omitEmptyFields = (data: JsonObject): ToolAnswer =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => !isEmpty(value)));

function formatHandover(data: JsonObject, comments = true): ToolAnswer {
  const { untrusted_fields, comments: last, ...handover } = toObject(data['handover']);
  const handoverFields = omitEmptyFields({ ...handover, comments: comments ? (formatComments(last) ?? null) : null });
  return Object.keys(handoverFields).length === 0 ? {} : { handover: { ...handoverFields, untrusted_fields } };
}

const formatNews = (data: JsonObject): ToolAnswer =>
  isEmpty(data['news'] ?? null) ? {} : { news: formatComments(data['news']) };

export const formatRejection = (error: JsonObject): ToolAnswer => ({ ...error, ...formatNews(error) });

export const formatCommentPage = (data: JsonObject): ToolAnswer => ({ ...data, items: formatComments(data['items']) });

export const formatWrite = (data: JsonObject): ToolAnswer => {
  const item = isObject(data['item']) ? data['item'] : data;
  return {
    ...pickFields(item, ['ref', 'status', 'rev']),
    ...pickFields(data, ['lease']),
    ...(typeof data['latest_build'] === 'string' && { latest_build: data['latest_build'] }),
    ...formatHandover(data),
    ...formatNews(data),
  };
};

const LINK_FIELDS = ['kind', 'ref', 'title', 'status', 'untrusted_fields'];
const formatLinkList = (data: JsonObject): ToolAnswer => {
  const links = toObjectList(data['links']).map((link) => pickFields(link, LINK_FIELDS));
  return links.length === 0 ? {} : { links };
};

export const formatLinks = (data: JsonObject): ToolAnswer => ({ ...formatWrite(data), ...formatLinkList(data) });

export const formatSplit = (data: JsonObject): ToolAnswer => ({
  ...formatWrite(data),
  ...(isObject(data['split_off']) && { split_off: pickFields(data['split_off'], ['ref', 'title', 'hit_count']) }),
  ...(isObject(data['split_off']) || !isObject(data['preview']) ? {} : { preview: omitEmptyFields(data['preview']) }),
});

export const formatReport = (data: JsonObject): ToolAnswer => ({
  ...formatWrite(data),
  ...pickFields(data, ['id', 'created', 'deduplicated']),
  ...(Array.isArray(data['truncated']) && data['truncated'].length > 0 && { truncated: data['truncated'] }),
});

const OMITTED_FIELDS = [
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

function formatItem(item: JsonObject, roots: readonly string[]): ToolAnswer {
  const {
    app_version,
    last_build,
    exception_class: kind,
    error_message: message,
    stack_trace: trace,
    claim,
    ...rest
  } = omitEmptyFields(omitFields(item, item['source'] === 'sdk' ? [...OMITTED_FIELDS, 'client_ref'] : OMITTED_FIELDS));
  const title = toText(rest['title']);
  return {
    ...rest,
    ...(typeof kind === 'string' && !title.startsWith(`${kind}:`) && { exception_class: kind }),
    ...(typeof message === 'string' && !title.includes(message) && { error_message: message }),
    ...(typeof trace === 'string' && { stack_trace: shortenTrace(trace, roots) }),
    ...(app_version !== undefined && app_version !== item['first_build'] && { app_version }),
    ...(last_build !== undefined && last_build !== item['first_build'] && { last_build }),
    ...(isObject(claim) && { claim: pickFields(claim, ['agent', 'expires_at']) }),
  };
}

const MAX_CALLER_LINES = 2;

/** Marks the failing line: `> 41 return price.total;`. */
function formatSource(source: unknown, line: unknown, around = Infinity): string | null {
  const lines = Object.entries(toObject(source)).filter(([at]) => Math.abs(Number(at) - Number(line)) <= around);
  if (lines.length === 0) return null;
  return lines.map(([at, code]) => `${Number(at) === line ? '>' : ' '} ${at}  ${String(code)}`).join('\n');
}

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const listFrames = (occurrence: JsonObject): JsonObject[] => toObjectList(toObject(occurrence['context'])['frames']);

function formatCrash(item: JsonObject, occurrence: JsonObject, roots: readonly string[]): ToolAnswer {
  const context = toObject(occurrence['context']);
  const line = occurrence['line_no'] ?? item['line_no'];
  const file = occurrence['file_path'] ?? item['file_path'] ?? null;
  const lines = toObject(context['source']);
  const callers = listFrames(occurrence).flatMap((frame) => {
    const source = formatSource(frame['source'], frame['lineno'], MAX_CALLER_LINES);
    if (source === null && frame['locals'] === undefined) return [];
    const path = toText(frame['filename'] ?? frame['module']);
    const place = `${stripRoots(path, roots)}:${toText(frame['lineno'])} ${toText(frame['function'])}`.trimEnd();
    const shown = frame['filename'] === file && toText(frame['lineno']) in lines ? null : source;
    const locals = isObject(frame['locals']) ? formatLines(frame['locals']) : null;
    return [[place, shown, locals].filter((part) => part !== null).join('\n')];
  });
  const crash = omitEmptyFields({
    file: typeof file === 'string' ? stripRoots(file, roots) : file,
    line: line ?? null,
    source: formatSource(context['source'], line),
    locals: isObject(context['locals']) ? formatLines(context['locals']) : (context['locals'] ?? null),
    callers: callers.join('\n'),
  });
  return crash['source'] === undefined && crash['locals'] === undefined ? {} : { crash };
}

/** Shown by `crash`, or useless for the fix. */
const OMITTED_CONTEXT_FIELDS = ['source', 'locals', 'frames', 'threads', 'sdk', 'release', 'dist', 'logger'];

function formatContext(context: unknown): ToolAnswer {
  const { contexts, extra, ...rest } = omitEmptyFields(omitFields(toObject(context), OMITTED_CONTEXT_FIELDS));
  const text = [rest, toObject(contexts), toObject(extra)].map(formatLines).filter(Boolean).join('\n');
  return text === '' ? {} : { context: text };
}

function omitSharedFields(
  occurrence: JsonObject,
  item: JsonObject,
  hidden: readonly string[],
  roots: readonly string[],
): ToolAnswer {
  const { context, ...rest } = omitEmptyFields(omitFields(occurrence, ['id', 'received_at', ...hidden]));
  const other = Object.entries(rest).filter(
    ([name, value]) => name === 'untrusted_fields' || JSON.stringify(item[name]) !== JSON.stringify(value),
  );
  const { error_message: message, stack_trace: trace, occurred_at: at, ...shown } = Object.fromEntries(other);
  return {
    ...(at !== item['last_seen_at'] && { occurred_at: at }),
    ...shown,
    ...(typeof message === 'string' && !toText(item['title']).includes(message) && { error_message: message }),
    ...(typeof trace === 'string' && { stack_trace: shortenTrace(trace, roots) }),
    ...formatContext(context),
  };
}

function formatItemWithOccurrence(
  item: JsonObject,
  newest: JsonObject | null,
): { crash: ToolAnswer; item: ToolAnswer; occurrence: ToolAnswer | null } {
  const occurrence = newest ?? {};
  const roots = findRoots(listFrames(occurrence));
  const crash = formatCrash(item, occurrence, roots);
  const place = Object.keys(crash).length > 0 ? ['file_path', 'line_no'] : [];
  const trace = occurrence['stack_trace'];
  const older = typeof trace === 'string' && trace !== item['stack_trace'] ? ['stack_trace'] : [];
  const build = occurrence['app_version'] === item['last_build'] ? ['last_build'] : [];
  return {
    crash,
    item: formatItem(omitFields(item, [...place, ...older, ...build]), roots),
    occurrence: newest && omitSharedFields(occurrence, item, place, roots),
  };
}

const MAX_SHARES = 3;

/** `1.4.0 ×12, 1.3.9 ×2`; a single value would repeat the item. */
function formatSpread(spread: unknown): ToolAnswer {
  const { tags, ...kinds } = toObject(spread);
  const named = (of: JsonObject): string[] =>
    Object.entries(of).flatMap(([name, list]) => {
      const values = toObjectList(list).slice(0, MAX_SHARES);
      const shares = values.map(({ value, count }) => `${toText(value)} ×${toText(count)}`).join(', ');
      return values.length < 2 ? [] : [`${name}: ${shares}`];
    });
  const lines = [...named(kinds), ...named(toObject(tags)).slice(0, MAX_SHARES)];
  return lines.length === 0 ? {} : { spread: lines.join('\n') };
}

const formatPlaces = (data: JsonObject): ToolAnswer => ({
  ...formatSuspects(data),
  ...(typeof data['code_url'] === 'string' && { code_url: data['code_url'] }),
  ...(typeof data['requester'] === 'string' && { requester: data['requester'] }),
  ...formatSpread(data['spread']),
});

const MAX_SIMILAR_TITLE_LENGTH = 80;

const formatSimilar = (data: JsonObject): ToolAnswer => {
  const similar = toObjectList(data['similar']).map(({ ref, status, title }) => {
    return { ref, status, title: toText(title).slice(0, MAX_SIMILAR_TITLE_LENGTH).toWellFormed() };
  });
  return similar.length === 0 ? {} : { similar };
};

export const formatClaim = (data: JsonObject): ToolAnswer => {
  if (!isObject(data['item']))
    return { item: null, ...(isObject(data['waiting']) && { waiting: omitEmptyFields(data['waiting']) }) };
  const whole = data['item'];
  const newest = isObject(data['occurrence']) ? formatOccurrence(data['occurrence'], whole) : null;
  const { crash, item, occurrence } = formatItemWithOccurrence(whole, newest);
  return {
    ...crash,
    item: { ...item, ...(isObject(item['claim']) && { claim: pickFields(item['claim'], ['agent']) }) },
    ...formatPlaces(data),
    ...(occurrence && { occurrence }),
    ...formatSimilar(data),
    ...pickFields(data, ['lease']),
    ...formatHandover(data),
    ...formatNews(data),
  };
};

const SHORT_ITEM_FIELDS = [
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

export const formatItemList = (data: JsonObject): ToolAnswer => ({
  ...data,
  items: toObjectList(data['items']).map((item) => omitEmptyFields(pickFields(item, SHORT_ITEM_FIELDS))),
});

function pickDifferences(occurrence: JsonObject, from: JsonObject): ToolAnswer {
  const always = ['id', 'occurred_at'];
  const names = Object.keys(occurrence).filter(
    (name) =>
      !['received_at', 'context'].includes(name) && JSON.stringify(occurrence[name]) !== JSON.stringify(from[name]),
  );
  const other = toObject(from['context']);
  const context = Object.entries(toObject(occurrence['context'])).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name]),
  );
  const { stack_trace: trace, ...rest } = pickFields(occurrence, [...always, ...names]);
  return {
    ...rest,
    ...(trace !== undefined && { stack_trace: shortenTrace(toText(trace), findRoots(listFrames(occurrence))) }),
    ...(context.length > 0 && formatContext(Object.fromEntries(context))),
  };
}

/** They only show that an agent works. */
const ROUTINE_ACTIONS = new Set(['renewed', 'reclaimed', 'commented']);
const MAX_HISTORY_ENTRIES = 5;

function formatHistoryEntry({ at, action, actor, data }: JsonObject): ToolAnswer {
  const { from, to, reason, fields, ...rest } = toObject(data);
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

export const formatItemDetail = (data: JsonObject): ToolAnswer => {
  const whole = toObject(data['item']);
  const [newest, ...others] = toObjectList(data['occurrences']).map((one) => formatOccurrence(one, whole));
  const history = toObjectList(data['activity']).filter(({ action }) => !ROUTINE_ACTIONS.has(String(action)));
  const { crash, item, occurrence } = formatItemWithOccurrence(whole, newest ?? null);
  return {
    ...crash,
    item,
    ...formatPlaces(data),
    occurrences:
      newest === undefined
        ? []
        : [{ id: newest['id'], ...occurrence }, ...others.map((other) => pickDifferences(other, newest))],
    comments: formatComments(data['comments']),
    activity: history.slice(0, MAX_HISTORY_ENTRIES).map(formatHistoryEntry),
    ...formatLinkList(data),
    ...(isObject(data['pull_request']) && { pull_request: omitFields(data['pull_request'], ['url']) }),
    ...formatHandover(data, false),
  };
};
