/** Byte-identical for every webhook, retry and process (contract 70, payload). */
import type { Doc, DomainEvent } from '../../../kernel/contract/index.js';
import { getEventPage } from '../../../ports/domain/event-page.js';

/** Contract 70. */
export const MAX_PAYLOAD_BYTES = 20_000;
const TEXT_LENGTH_LIMITS = [2_000, 500, 100];
const MAX_URL_CHARACTERS = 1_000;
/** Left by truncation. */
const TRAILING_SURROGATE_PATTERN = /[\uD800-\uDBFF]$/;

export interface StoredEvent extends Doc {
  event: string;
  timestamp: string;
  project_slug: string | null;
  body: string;
  stored_at: string;
  /** Set until every webhook of `fan_to` has its delivery. */
  fan_at?: string;
  fan_by?: string;
  fan_to?: string[];
}

export interface WebhookEventView {
  id: string;
  event: string;
  timestamp: string;
  project_slug: string | null;
  data: unknown;
}

export const toWebhookEventView = ({ body }: StoredEvent): WebhookEventView => JSON.parse(body) as WebhookEventView;

/**
 * The page about the event (contract 70, payload).
 * @param baseUrl `server.base_url`
 */
export function addPageUrl<T extends Pick<DomainEvent, 'event' | 'data'>>(event: T, baseUrl: string): T {
  const { data } = event;
  const path = getEventPage(event.event, data);
  if (path === null || typeof data !== 'object' || data === null || 'url' in data) return event;
  return { ...event, data: { ...data, url: baseUrl.replace(/\/$/, '') + path } };
}

/**
 * @param now RFC 3339
 * @param by this process
 * @param to webhook ids
 */
export function toStoredEvent(event: DomainEvent, now: string, by: string, to: readonly string[]): StoredEvent {
  const { id, event: name, timestamp, project_slug } = event;
  const head = { event: name, timestamp, project_slug };
  const marker = to.length === 0 ? {} : { fan_at: now, fan_by: by, fan_to: [...to] };
  return { id, ...head, body: buildPayload(event), stored_at: now, ...marker };
}

/** Reduced to the limit: first long texts, then nested values, then all data. */
export function buildPayload({ id, event, timestamp, project_slug, data }: DomainEvent): string {
  const text = (value: unknown): string => JSON.stringify({ id, event, timestamp, project_slug, data: value });
  const given: unknown = data ?? {};
  const members: [string, unknown][] = typeof given === 'object' && given !== null ? Object.entries(given) : [];
  const plain = Object.fromEntries(members.filter(([, value]) => typeof value !== 'object' || value === null));
  const versions = [
    () => given,
    ...TEXT_LENGTH_LIMITS.map((length) => () => shortenTexts(given, length)),
    () => ({ ...(shortenTexts(plain, 100) as object), truncated: true }),
  ];
  for (const version of versions) {
    const body = text(version());
    if (Buffer.byteLength(body) <= MAX_PAYLOAD_BYTES) return body;
  }
  return text({ truncated: true });
}

function shortenTexts(value: unknown, length: number): unknown {
  if (typeof value === 'string')
    return value.length > length ? `${value.slice(0, length).replace(TRAILING_SURROGATE_PATTERN, '')}…` : value;
  if (Array.isArray(value)) return value.map((element) => shortenTexts(element, length));
  if (typeof value !== 'object' || value === null) return value;
  // A truncated URL is useless.
  const cut = (key: string, member: unknown): unknown =>
    key === 'url' && typeof member === 'string' && member.length <= MAX_URL_CHARACTERS
      ? member
      : shortenTexts(member, length);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(key, member)]));
}
