/**
 * Clients pass either the structured form or the text to their model, so the text is the same
 * object as JSON.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RouteAnswer, RouteTool } from '../../ports/tools.js';
import { TextFence, escapeInvisible } from './text-fence.js';
import { UNTRUSTED_TEXT_NOTICE } from './instructions.js';
import { markExternalText, type TextLimits, type MarkedResponse } from './external-text.js';

export const DEFAULT_TEXT_CHARACTERS = 8_000;
const MAX_TOTAL_CHARACTERS = 40_000;
export const MAX_TEXT_CHARACTERS = 65_536;

/** Text of agents and users, however short. */
const EXTERNAL_ERROR_FIELDS = ['agent', 'reason', 'by', 'author', 'actor', 'body'];

export interface ToolResultOptions extends Pick<RouteTool, 'answer' | 'refusal'> {
  outside?: readonly string[];
  textLimit?: number;
}

export function buildToolResult(
  answer: RouteAnswer,
  {
    outside = [],
    textLimit = DEFAULT_TEXT_CHARACTERS,
    answer: shape = (all) => ({ ...all }),
    refusal,
  }: ToolResultOptions = {},
): CallToolResult {
  if (answer.status >= 400) return buildErrorResult(answer, refusal);
  const { status: _status, ...data } = answer.body;
  const fence = new TextFence();
  const limits: TextLimits = { text: textLimit, all: Math.max(MAX_TOTAL_CHARACTERS, 2 * textLimit) };
  const { warnings } = data;
  const shown = { ...shape(data), ...(warnings !== undefined && { warnings }) };
  return toCallToolResult(markExternalText(shown, outside, limits, fence), fence);
}

function buildErrorResult(
  { body, headers }: RouteAnswer,
  refusal: ToolResultOptions['refusal'] = (error) => ({ ...error }),
): CallToolResult {
  const { code, message, fields, takes, ...rest } = (body['error'] ?? {}) as Record<string, unknown>;
  const fence = new TextFence();
  const marked = markExternalText(
    refusal(rest),
    EXTERNAL_ERROR_FIELDS,
    { text: DEFAULT_TEXT_CHARACTERS, all: MAX_TOTAL_CHARACTERS },
    fence,
  );
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
  return { isError: true, ...toCallToolResult({ ...marked, data: { error } }, fence) };
}

/** The notice comes first, so that a model reads it before the texts. */
function toCallToolResult({ data, hasMarks, cut }: MarkedResponse, { nonce }: TextFence): CallToolResult {
  const untrusted = { notice: UNTRUSTED_TEXT_NOTICE, nonce, ...(cut.length > 0 && { cut, more: MORE_TEXT_HINT }) };
  const structuredContent = hasMarks || cut.length > 0 ? { untrusted, ...data } : data;
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

const MORE_TEXT_HINT = `\`get\` with \`text_limit\`, up to ${MAX_TEXT_CHARACTERS}`;
