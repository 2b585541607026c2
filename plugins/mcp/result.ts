/**
 * A route's response as tool result: one object with marked external text. Clients pass either the
 * structured form or the text to their model, so the text is the same object as JSON.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RouteAnswer, RouteTool } from '../../ports/tools.js';
import { Fence, escapeInvisible } from './fence.js';
import { NOTICE } from './guide.js';
import { markOutsideText, type Limits, type MarkedAnswer } from './outside-text.js';

export const TEXT = 8_000;
const ALL = 40_000;
export const MAX_TEXT_LENGTH = 65_536;

/** Error fields with text of agents and users, however short. */
const WORDS_OF_OTHERS = ['agent', 'reason', 'by', 'author', 'actor', 'body'];

export interface Shape extends Pick<RouteTool, 'answer' | 'refusal'> {
  outside?: readonly string[];
  textLimit?: number;
}

export function buildToolResult(
  answer: RouteAnswer,
  { outside = [], textLimit = TEXT, answer: shape = (all) => ({ ...all }), refusal }: Shape = {},
): CallToolResult {
  if (answer.status >= 400) return refusedResult(answer, refusal);
  const { status: _status, ...data } = answer.body;
  const fence = new Fence();
  const limits: Limits = { text: textLimit, all: Math.max(ALL, 2 * textLimit) };
  const { warnings } = data;
  const shown = { ...shape(data), ...(warnings !== undefined && { warnings }) };
  return resultOf(markOutsideText(shown, outside, limits, fence), fence);
}

function refusedResult(
  { body, headers }: RouteAnswer,
  refusal: Shape['refusal'] = (error) => ({ ...error }),
): CallToolResult {
  const { code, message, fields, takes, ...rest } = (body['error'] ?? {}) as Record<string, unknown>;
  const fence = new Fence();
  const marked = markOutsideText(refusal(rest), WORDS_OF_OTHERS, { text: TEXT, all: ALL }, fence);
  const wait = Number(headers['retry-after']);
  const error = {
    code,
    message: escapeInvisible(String(message)),
    ...(fields !== undefined && {
      fields: Object.fromEntries(
        Object.entries(fields as Record<string, string>).map(([name, text]) => [
          escapeInvisible(name),
          escapeInvisible(text),
        ]),
      ),
    }),
    ...(typeof takes === 'string' && { takes: escapeInvisible(takes) }),
    ...(Number.isFinite(wait) && { retry_after_seconds: wait }),
    ...marked.data,
  };
  return { isError: true, ...resultOf({ ...marked, data: { error } }, fence) };
}

/** Builds both forms. The notice comes first, so that a model reads it before the texts. */
function resultOf({ data, hasMarks, cut }: MarkedAnswer, { nonce }: Fence): CallToolResult {
  const untrusted = { notice: NOTICE, nonce, ...(cut.length > 0 && { cut, more: MORE }) };
  const structuredContent = hasMarks || cut.length > 0 ? { untrusted, ...data } : data;
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

const MORE = `\`get\` with \`text_limit\`, up to ${MAX_TEXT_LENGTH}`;
