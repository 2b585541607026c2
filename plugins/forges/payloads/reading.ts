/** Reading a parsed body of a stranger: each question gives a value of its kind, or none. Pure. */
import { cleanText } from '../../../lib/text/clean-text.js';
import { normalizedTime } from '../../../lib/time.js';
import { LONGEST_TEXT } from '../mentions.js';

export type ForgePayload = Readonly<Record<string, unknown>>;

const LONGEST_URL = 500;
const LONGEST_TITLE = 200;
const LONGEST_NAME = 80;
/** Of SHA-1 and SHA-256, in full. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** An object's members; none of anything else. */
export const members = (value: unknown): ForgePayload =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ForgePayload) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? cleanText(value.slice(0, LONGEST_TEXT)) : '';

export function titleOf(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1);
  const title = line.trim();
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1).toWellFormed()}…` : title;
}

/** The first that is a name. */
export function nameOf(...candidates: readonly unknown[]): string | null {
  for (const candidate of candidates) {
    const name = textOf(candidate)
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, LONGEST_NAME)
      .toWellFormed();
    if (name !== '') return name;
  }
  return null;
}

export const commitOf = (value: unknown): string | null =>
  typeof value === 'string' && COMMIT.test(value) ? value : null;

/** @returns the address as it came, when a page may link to it */
export function urlOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_URL || !/^https?:\/\//i.test(value)) return null;
  return URL.canParse(value) ? value : null;
}

/** GitLab writes `2026-09-21 14:13:20 UTC` too. */
export function timeOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 40 ? normalizedTime(value) : null;
}
