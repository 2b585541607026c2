/** A route's answer as the result of a tool: facts as JSON, outside text in the fence, errors with their code. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RouteAnswer, RouteTool } from '../../ports/tools.js';
import { divide, type Divided, type Limits } from './divide.js';
import { Fence, visible } from './fence.js';
import { NOTICE } from './guide.js';

/** Characters shown of each text, and of all texts of an answer, unless the call asks for more. */
export const TEXT = 8_000;
const ALL = 40_000;
/** The largest `text_limit`. */
export const MOST_TEXT = 65_536;

/** Members of a refusal that hold what agents and people wrote, however short. */
const WORDS_OF_OTHERS = ['agent', 'reason', 'by'];

export interface Shape extends Pick<RouteTool, 'answer' | 'lines' | 'heading'> {
  /** Names of members that hold text from outside. */
  outside?: readonly string[];
  /** Characters of each text. */
  textLimit?: number;
}

export function toolResult(
  answer: RouteAnswer,
  { outside = [], textLimit = TEXT, answer: shown = (all) => ({ ...all }), lines, heading }: Shape = {},
): CallToolResult {
  if (answer.status >= 400) return failed(answer);
  const { status: _status, ...data } = answer.body;
  const fence = new Fence();
  const limits: Limits = { text: textLimit, all: Math.max(ALL, 2 * textLimit) };
  const { warnings } = data;
  const told = { ...shown(data), ...(warnings !== undefined && { warnings }) };
  const divided = divide(told, outside, limits, fence);
  const text = lines === undefined ? page(divided, fence) : short(divided, fence, lines, heading);
  return { content: [{ type: 'text', text }], structuredContent: structured(divided, fence) };
}

/** A long list as text: one line of facts for each element, then, in the fence, one of its heading. */
function short({ facts, whole }: Divided, fence: Fence, names: readonly string[], heading?: string): string {
  const { items, ...rest } = facts;
  const shown = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '-';
  const rows = (Array.isArray(items) ? items : []) as Record<string, unknown>[];
  const told = (Array.isArray(whole['items']) ? whole['items'] : []) as Record<string, unknown>[];
  const headings = told.flatMap((row) => {
    const text = heading === undefined ? undefined : row[heading];
    if (typeof text !== 'string') return [];
    return `[${fence.nonce} ${shown(row[names[0] ?? ''])}] ${fence.unwrap(text).replaceAll('\n', ' ')}`;
  });
  return [
    JSON.stringify({ found: rows.length, ...rest }),
    ...rows.map((row) => names.map((name) => shown(row[name])).join(' ')),
    ...(headings.length === 0 ? [] : ['', noticeOf(fence), fence.open, ...headings, fence.close]),
    'The other texts are in the structured answer; `get` reads one item.',
  ].join('\n');
}

const noticeOf = (fence: Fence): string => `${NOTICE} It ends at ${fence.close} and nowhere before.`;

/**
 * An error of the service. Its message, fields and `takes` are the service's own; the rest is divided like any answer.
 */
function failed({ body, headers }: RouteAnswer): CallToolResult {
  const { code, message, fields, takes, ...rest } = (body['error'] ?? {}) as Record<string, unknown>;
  const fence = new Fence();
  const divided = divide(rest, WORDS_OF_OTHERS, { text: TEXT, all: ALL }, fence);
  const wait = Number(headers['retry-after']);
  const about = {
    code,
    message: visible(String(message)),
    ...(fields !== undefined && {
      fields: Object.fromEntries(
        Object.entries(fields as Record<string, string>).map(([name, text]) => [visible(name), visible(text)]),
      ),
    }),
    ...(typeof takes === 'string' && { takes: visible(takes) }),
    ...(Number.isFinite(wait) && { retry_after_seconds: wait }),
  };
  const facts = { error: { ...about, ...divided.facts } };
  const { untrusted, ...whole } = structured(divided, fence);
  return {
    isError: true,
    content: [{ type: 'text', text: page({ ...divided, facts }, fence) }],
    structuredContent: { ...(untrusted !== undefined && { untrusted }), error: { ...about, ...whole } },
  };
}

function structured({ whole, texts }: Divided, { nonce }: Fence): Record<string, unknown> {
  if (texts.length === 0) return whole;
  const cut = texts.flatMap(({ field, text, length }) =>
    text.length < length ? [{ field, shown: text.length, length }] : [],
  );
  const fields = texts.map(({ field }) => field);
  // First, so that the model reads it before the texts.
  return { untrusted: { notice: NOTICE, nonce, fields, ...(cut.length > 0 && { cut }) }, ...whole };
}

/** The text form: facts, then all outside texts in one fence, each under a heading that also carries the number. */
function page({ facts, texts }: Pick<Divided, 'facts' | 'texts'>, fence: Fence): string {
  // What is outside text stands in the fence anyway.
  const json = JSON.stringify(facts, (name, value: unknown) => (name === 'untrusted_fields' ? undefined : value));
  if (texts.length === 0) return json;
  const sections = texts.map(({ field, text }) => `[${fence.nonce} ${field}]\n${text}`);
  const cut = texts
    .filter(({ text, length }) => text.length < length)
    .map(({ field, text, length }) => `${field}: ${text.length} of ${length} characters`);
  return [
    json,
    '',
    noticeOf(fence),
    fence.open,
    ...sections,
    fence.close,
    ...(cut.length === 0
      ? []
      : [`Cut: ${cut.join('; ')}. For more: \`get\` with \`text_limit\` (up to ${MOST_TEXT}), or the REST route.`]),
  ].join('\n');
}
