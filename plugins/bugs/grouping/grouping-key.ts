/**
 * Grouping key version 2 (contract 21). `bare_key`, without origin, matches reports with a stack
 * trace to those without. A key of the whole trace would split these; similarity could not be
 * explained.
 */
import { hash as digest } from 'node:crypto';
import type { GroupMember } from '../../../ports/domain/bugs.js';
import { maskGeneratedName } from '../../../lib/text/generated-names.js';
import { toCoarseText, toCoarseOrigin, isCoarse } from './coarse-form.js';
import { maskText, type MaskOptions } from './message-mask.js';
import { findFirstFrame } from './stack-trace.js';
import { normalizeFunction, normalizeOrigin } from './origin.js';

export interface GroupingInput {
  type: string;
  project: string;
  title?: string | null;
  error_message?: string | null;
  exception_class?: string | null;
  file_path?: string | null;
  /** If the reporter states both (contract 21, Sentry SDK intake). */
  function_name?: string | null;
  stack_trace?: string | null;
  message_template?: string | null;
  members?: readonly GroupMember[] | null;
  fingerprint?: readonly string[] | null;
}

export interface Grouping {
  /** `v2:` and 40 hex digits. */
  dedup_key: string;
  /** Equals `dedup_key` when the report has no origin. */
  bare_key: string;
  /** Empty if none, or omitted by a fingerprint. */
  origin: string;
  masked: string;
}

const SEPARATOR = '\u001f';
const MAX_MESSAGE_LINES = 2;
const MAX_MESSAGE_LENGTH = 2048;
const MAX_SEARCHED_LENGTH = 16_384;
const MAX_PART_LENGTH = 2048;
const MAX_ELEMENTS = 100;
const MAX_MEMBERS = 32;
const DEFAULT_PLACEHOLDER = /^\{\{\s{0,8}default\s{0,8}\}\}$/;
const MAX_DEFAULT_LENGTH = 64;

/** Never throws; the time is bounded for any input (contract 21, grouping key, version 2). */
export function computeGrouping(input: GroupingInput, options: Partial<MaskOptions> = {}): Grouping {
  const masked = getMaskedMessage(input, options) + formatMembers(input);
  const parts = getFingerprint(input);
  const origin = parts === null || parts.some(isDefaultPlaceholder) ? getOrigin(input) : '';
  const head = listKeyPrefix(input);
  if (parts === null) return { ...computeKeys(head, origin, masked), origin, masked };
  const keyFor = (from: string): string => `v2:${hashKey([...head, ...resolveFingerprint(parts, from, masked)])}`;
  const dedup_key = keyFor(origin);
  return { dedup_key, bare_key: origin === '' ? dedup_key : keyFor(''), origin, masked };
}

/** Returns one sorted line per member: class and place. */
function formatMembers({ members }: GroupingInput): string {
  if (!members?.length) return '';
  const named = members.slice(0, MAX_MEMBERS).map(({ exception_class, file, function: name }) => {
    const place = getOrigin({ file_path: file, function_name: name });
    return [exception_class === null ? '' : maskGeneratedName(exception_class), place].join(' ').trim();
  });
  return [...new Set(named)]
    .toSorted()
    .map((member) => `\n- ${member}`)
    .join('');
}

export interface FloodGroupingKeys {
  source: string;
  /** Null if no word contains a digit: no other key then has the same coarse key. */
  coarse_key: string | null;
}

export function computeFloodKey(input: GroupingInput, { origin, masked }: Grouping): FloodGroupingKeys | null {
  if (getFingerprint(input) !== null) return null;
  const [type = '', project = '', exceptionClass = ''] = listKeyPrefix(input);
  const source = [type, project, toCoarseText(exceptionClass)];
  const parts = [...source.slice(2), toCoarseOrigin(origin, input.file_path ?? null), toCoarseText(masked)];
  return {
    source: hashKey(source),
    coarse_key: parts.some(isCoarse) ? `c3:${hashKey([type, project, ...parts])}` : null,
  };
}

const getFingerprint = ({ fingerprint }: GroupingInput): readonly string[] | null =>
  fingerprint?.length ? fingerprint.slice(0, MAX_ELEMENTS) : null;

const listKeyPrefix = ({ type, project, exception_class }: GroupingInput): string[] => [
  type,
  project,
  exception_class ? maskGeneratedName(exception_class.slice(0, MAX_PART_LENGTH).trim()) : '',
];

/** Falls back to the first frame. */
export function getOrigin({
  file_path,
  function_name,
  stack_trace,
}: Pick<GroupingInput, 'file_path' | 'function_name' | 'stack_trace'>): string {
  const given = file_path ? normalizeOrigin(file_path) : '';
  const name = given !== '' && function_name ? normalizeFunction(function_name) : '';
  if (name !== '') return `${given}#${name}`;
  if (given !== '' || !stack_trace) return given;
  const frame = findFirstFrame(stack_trace);
  if (frame === null) return '';
  // An image contains the whole application.
  const symbol = frame.image !== undefined && frame.line_no === null ? normalizeFunction(frame.function ?? '') : '';
  if (frame.file !== null && symbol !== '') return `${normalizeOrigin(frame.file)}#${symbol}`;
  return frame.file !== null ? normalizeOrigin(frame.file) : maskGeneratedName(frame.function ?? '').toLowerCase();
}

const INDEX_ERROR_CLASS =
  /OutOfBounds|IndexError|KeyError|KeyNotFound|NegativeArraySize|NoSuchElement|RangeError|ArrayStore/;
const BARE_NUMBER = /^[-+]?\d{1,20}$/;

export function getMaskedMessage(input: GroupingInput, options: Partial<MaskOptions> = {}): string {
  const message = getMessageText(input);
  if (BARE_NUMBER.test(message) && INDEX_ERROR_CLASS.test(input.exception_class ?? '')) return '<number>';
  return maskText(message, options);
}

function getMessageText({ type, title, error_message, message_template }: GroupingInput): string {
  const message = takeFirstLines(message_template ?? '') || takeFirstLines(error_message ?? '');
  if (message !== '') return message;
  const heading = takeFirstLines(title ?? '');
  return type === 'feature' ? normalizeTitle(heading) : heading;
}

const LINE_BREAK = /[\r\n]/;

function takeFirstLines(text: string): string {
  if (text.length <= MAX_MESSAGE_LENGTH && !LINE_BREAK.test(text)) return text.trim();
  const window = text.length > MAX_SEARCHED_LENGTH ? text.slice(0, MAX_SEARCHED_LENGTH) : text;
  const lines: string[] = [];
  for (const line of window.includes('\r') ? window.split(/\r\n?|\n/) : window.split('\n')) {
    const content = line.trim();
    if (content !== '' && lines.push(content) === MAX_MESSAGE_LINES) break;
  }
  return lines.join('\n').slice(0, MAX_MESSAGE_LENGTH).trimEnd();
}

function normalizeTitle(title: string): string {
  const lower = title.normalize('NFC').toLowerCase();
  const words = lower.replace(/[\s\p{P}\p{S}]+/gu, ' ').trim();
  return words === '' ? lower : words;
}

type GroupingKeys = Pick<Grouping, 'dedup_key' | 'bare_key'>;

export const isDefaultPlaceholder = (element: string): boolean =>
  element.length <= MAX_DEFAULT_LENGTH && DEFAULT_PLACEHOLDER.test(element.trim());

function resolveFingerprint(fingerprint: readonly string[], origin: string, masked: string): string[] {
  return fingerprint.flatMap((element) =>
    isDefaultPlaceholder(element) ? [origin, masked] : [element.slice(0, MAX_PART_LENGTH)],
  );
}

/** Otherwise a report could forge the other parts. */
const joinParts = (parts: readonly string[]): string =>
  parts.map((part) => (part.includes(SEPARATOR) ? part.replaceAll(SEPARATOR, ' ') : part)).join(SEPARATOR);

const hashKey = (parts: readonly string[]): string => digest('sha256', joinParts(parts)).slice(0, 40);

function computeKeys(head: readonly string[], origin: string, masked: string): GroupingKeys {
  const dedup_key = `v2:${hashKey([...head, origin, masked])}`;
  return { dedup_key, bare_key: origin === '' ? dedup_key : `v2:${hashKey([...head, '', masked])}` };
}
