/** Reads untrusted payload fields: each accessor returns a value of its type or an empty one. */
import { cleanText } from '../../../lib/text/clean-text.js';
import { normalizeTime } from '../../../lib/time.js';
import { MAX_TEXT_CHARACTERS } from '../mentions.js';

export type ForgePayload = Readonly<Record<string, unknown>>;

const MAX_URL_CHARACTERS = 500;
const MAX_TITLE_CHARACTERS = 200;
const MAX_NAME_CHARACTERS = 80;
const COMMIT_PATTERN = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

export const toPayloadFields = (value: unknown): ForgePayload =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ForgePayload) : {};

export const toPayloadList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const toPayloadText = (value: unknown): string =>
  typeof value === 'string' ? cleanText(value.slice(0, MAX_TEXT_CHARACTERS)) : '';

export function parseTitle(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1);
  const title = line.trim();
  return title.length > MAX_TITLE_CHARACTERS ? `${title.slice(0, MAX_TITLE_CHARACTERS - 1).toWellFormed()}…` : title;
}

export function findName(...candidates: readonly unknown[]): string | null {
  for (const candidate of candidates) {
    const name = toPayloadText(candidate)
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, MAX_NAME_CHARACTERS)
      .toWellFormed();
    if (name !== '') return name;
  }
  return null;
}

export const parseCommit = (value: unknown): string | null =>
  typeof value === 'string' && COMMIT_PATTERN.test(value) ? value : null;

export function parsePageUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(value)) return null;
  return URL.canParse(value) ? value : null;
}

/** GitLab also sends `2026-09-21 14:13:20 UTC`. */
export function parseTime(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 40 ? normalizeTime(value) : null;
}
