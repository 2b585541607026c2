import { ServiceError } from '../../../kernel/errors.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';

export const STATES_BY_URGENCY: readonly MonitorState[] = [
  'down',
  'warning',
  'unknown',
  'up',
  'maintenance',
  'stopped',
];

export interface ListPosition {
  state: MonitorState | undefined;
  after: string | null;
}

export const formatPositionCursor = ({ state, after }: ListPosition): string =>
  Buffer.from(`w:${state} ${after ?? ''}`).toString('base64url');

/** @throws ServiceError invalid_cursor */
export function parsePositionCursor(cursor: string): ListPosition {
  const found = /^w:([a-z]+) (.*)$/s.exec(Buffer.from(cursor, 'base64url').toString());
  const state = STATES_BY_URGENCY.find((one) => one === found?.[1]);
  if (state === undefined) throw createCursorError();
  return { state, after: found?.[2] || null };
}

const createCursorError = (): ServiceError =>
  new ServiceError('invalid_cursor', 'The cursor does not belong to this list. Start again without it.');

export const formatSourceCursor = (source: string): string => Buffer.from(`s:${source}`).toString('base64url');

/** @throws ServiceError invalid_cursor */
export function parseSourceCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (text.startsWith('s:') && formatSourceCursor(text.slice(2)) === cursor) return text.slice(2);
  throw createCursorError();
}
