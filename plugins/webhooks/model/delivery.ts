/**
 * `next_at` is set while it waits for an attempt, `lease_by` while a process attempts it; neither
 * after it ended or while it is held.
 */
import { createHash } from 'node:crypto';
import type { Doc } from '../../../kernel/contract/index.js';
import { getGuidTime } from '../../../lib/text/guid.js';
import type { ReaderAccess } from './reader-access.js';
import type { StoredEvent } from './stored-event.js';

export const DELIVERY_STATES = ['pending', 'success', 'retrying', 'exhausted', 'held', 'blocked', 'expired'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryAttempt {
  attempt: number;
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  /** First 2 KiB, or null. */
  excerpt: string | null;
  /** From a public address; absent in older attempts. */
  public?: boolean;
}

export const getVisibleExcerpt = (
  { excerpt, public: open }: Pick<DeliveryAttempt, 'excerpt' | 'public'>,
  sight: ReaderAccess,
): string | null => (sight === 'all' || (sight === 'public' && open === true) ? excerpt : null);

/** The egress policy's errors contain internal addresses. */
export const getVisibleError = ({ error }: Pick<DeliveryAttempt, 'error'>, sight: ReaderAccess): string | null =>
  sight !== 'all' && error?.startsWith('blocked: ') === true ? 'blocked: the address is not allowed' : error;

export interface WebhookDelivery extends Doc {
  webhook_id: string;
  event_id: string;
  event: string;
  project_slug: string | null;
  state: DeliveryState;
  attempts: DeliveryAttempt[];
  made: number;
  /** Since creation or the last redelivery; determines the delay. */
  failures: number;
  /** Toward the webhook's 20 failures. */
  counted: boolean;
  created_at: string;
  updated_at: string;
  attempted_at?: string;
  held_at?: string;
  next_at?: string;
  lease_by?: string;
  /** No two leases are equal. */
  lease_n: number;
}

export const WAITING_STATES: readonly DeliveryState[] = ['pending', 'retrying'];
export const MAX_STORED_ATTEMPTS = 30;

/**
 * UUIDv7 layout with the time of the event's id, so that it depends only on both ids.
 * @param at Unix milliseconds, for an event whose id contains no time
 */
export function buildDeliveryId(webhook: string, event: string, at: number): string {
  const bytes = createHash('sha256').update(webhook).update('\u001f').update(event).digest().subarray(0, 16);
  const time = (event.startsWith('evt_') ? getGuidTime(event.slice('evt_'.length)) : null) ?? at;
  bytes.writeUIntBE(Math.max(0, Math.min(time, 2 ** 48 - 1)), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Returns the lower bound.
 * @param at Unix milliseconds
 */
export function getFirstDeliveryId(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

export function createDelivery(webhook: string, event: StoredEvent, now: string): WebhookDelivery {
  return {
    id: buildDeliveryId(webhook, event.id, Date.parse(event.timestamp) || 0),
    webhook_id: webhook,
    event_id: event.id,
    event: event.event,
    project_slug: event.project_slug,
    state: 'pending',
    attempts: [],
    made: 0,
    failures: 0,
    counted: false,
    created_at: now,
    updated_at: now,
    lease_n: 0,
    next_at: now,
  };
}

export type AttemptView = Omit<DeliveryAttempt, 'public'>;

export function toAttemptView(attempt: DeliveryAttempt, sight: ReaderAccess): AttemptView {
  const { public: _open, ...shown } = attempt;
  return { ...shown, error: getVisibleError(attempt, sight), excerpt: getVisibleExcerpt(attempt, sight) };
}

export interface WebhookDeliveryView {
  id: string;
  webhook_id: string;
  event_id: string;
  event: string;
  project_slug: string | null;
  state: DeliveryState;
  attempt_count: number;
  attempts: AttemptView[];
  next_attempt_at: string | null;
  created_at: string;
  updated_at: string;
}

export const toWebhookDeliveryView = (delivery: WebhookDelivery, sight: ReaderAccess): WebhookDeliveryView => ({
  id: delivery.id,
  webhook_id: delivery.webhook_id,
  event_id: delivery.event_id,
  event: delivery.event,
  project_slug: delivery.project_slug,
  state: delivery.state,
  attempt_count: delivery.made,
  attempts: delivery.attempts.map((attempt) => toAttemptView(attempt, sight)),
  next_attempt_at: delivery.next_at ?? null,
  created_at: delivery.created_at,
  updated_at: delivery.updated_at,
});
