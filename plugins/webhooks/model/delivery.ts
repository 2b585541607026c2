/**
 * A delivery: one event on its way to one webhook. Its id is computed from the two, so the store itself keeps it
 * unique.
 *
 * Two optional fields say where it is: `next_at` (due then, free to be taken) and `lease_by` (an attempt is under way
 * in that process). Neither: it has ended, or is held.
 */
import { createHash } from 'node:crypto';
import type { Doc } from '../../../kernel/contract.js';
import { getGuidTime } from '../../../lib/text/guid.js';
import type { ReaderAccess } from './reader.js';
import type { StoredEvent } from './event.js';

export const STATES = ['pending', 'success', 'retrying', 'exhausted', 'held', 'blocked', 'expired'] as const;
export type DeliveryState = (typeof STATES)[number];

export interface DeliveryAttempt {
  /** `X-SVC-Attempt`. */
  attempt: number;
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  /** The first 2 KiB of the answer; null without one. */
  excerpt: string | null;
  /** The answer came from a globally reachable address; absent in attempts from before this was recorded. */
  public?: boolean;
}

/** The excerpt as far as the reader may see it. */
export const getVisibleExcerpt = (
  { excerpt, public: open }: Pick<DeliveryAttempt, 'excerpt' | 'public'>,
  sight: ReaderAccess,
): string | null => (sight === 'all' || (sight === 'public' && open === true) ? excerpt : null);

/** The error as far as the reader may see it: one of the egress policy names internal addresses. */
export const getVisibleError = ({ error }: Pick<DeliveryAttempt, 'error'>, sight: ReaderAccess): string | null =>
  sight !== 'all' && error?.startsWith('blocked: ') === true ? 'blocked: the address is not allowed' : error;

export interface Delivery extends Doc {
  webhook_id: string;
  event_id: string;
  event: string;
  project_slug: string | null;
  state: DeliveryState;
  /** The newest; `made` counts all. */
  attempts: DeliveryAttempt[];
  made: number;
  /** Failures since it was created or last redelivered: its place in the schedule. */
  failures: number;
  /** It has counted toward the webhook's 20. */
  counted: boolean;
  created_at: string;
  updated_at: string;
  attempted_at?: string;
  held_at?: string;
  next_at?: string;
  lease_by?: string;
  /** Rises with every lease, so that no two are equal. */
  lease_n: number;
}

/** States in which a delivery waits for an attempt. */
export const AWAITING_ATTEMPT: readonly DeliveryState[] = ['pending', 'retrying'];
/** Attempts that are stored: the whole schedule and some redeliveries. */
export const MAX_STORED_ATTEMPTS = 30;

/**
 * In UUIDv7 layout, ordered like everything else that is listed by id. Its time is that of the event's id, so that it
 * follows from the two ids alone.
 * @param at Unix milliseconds, for an event whose id holds no time
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

/** Every id of a delivery whose event came before this time is less. @param at Unix milliseconds */
export function getFirstId(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** A delivery that is due from now on, for any process. @param now RFC 3339 */
export function createDelivery(webhook: string, event: StoredEvent, now: string): Delivery {
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

export interface DeliveryView {
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

export const toWebhookDeliveryView = (delivery: Delivery, sight: ReaderAccess): DeliveryView => ({
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
