/** Target, secret and headers are stored encrypted. */
import type { Doc } from '../../../kernel/contract/index.js';
import type { NotificationSeverity } from '../notes/note.js';
import { CHANNEL_KINDS, type ChannelKind } from './channel-kinds.js';
import type { QuietHours } from './quiet-hours.js';

export const ALL_EVENTS = '*';

/** An empty list does not restrict. */
export interface ChannelFilter {
  /** Names of `TOPICS`, names of end events, or `*`. */
  events: string[];
  min_severity: NotificationSeverity;
  /** `*` is a wildcard; restricts only monitors. */
  monitors: string[];
  /** Any of them; restricts only items. */
  tags: string[];
  /** Slugs; excludes events without a project. */
  projects: string[];
}

export interface Channel extends Doc, ChannelFilter {
  name: string;
  kind: ChannelKind;
  enabled: boolean;
  /** Encrypted; empty without target. */
  target: string;
  /** Encrypted. */
  secret: string | null;
  server: string | null;
  /** Encrypted JSON. */
  headers: string | null;
  template: string | null;
  /** While a monitor is down; 0 disables them. */
  repeat_minutes: number;
  /**
   * How long an alarm must last that follows the previous one within this time; 0 disables the
   * delay.
   */
  flap_minutes: number;
  quiet: QuietHours | null;
  timezone: string | null;
  critical_immediately: boolean;
  /** Minutes per message; 0 disables the digest. */
  digest_minutes: number;
  next_at: string | null;
  last_sent_at: string | null;
  last_error: string | null;
  failing_since: string | null;
  disabled_reason: string | null;
  disabled_at: string | null;
  /** Not published yet. */
  disabled_event?: string;
  /** Holder of the sending lease and its expiry. */
  lease_by: string | null;
  lease_until: string | null;
  /** Created by an apply. */
  managed?: true;
  created_at: string;
  created_by: string;
  updated_at: string;
}

export interface ChannelFields extends ChannelFilter {
  name: string;
  kind: ChannelKind;
  enabled: boolean;
  target: string | null;
  secret: string | null;
  server: string | null;
  headers: Record<string, string> | null;
  template: string | null;
  repeat_minutes: number;
  flap_minutes: number;
  quiet_from: string | null;
  quiet_to: string | null;
  timezone: string | null;
  critical_immediately: boolean;
  digest_minutes: number;
}

export interface ChannelDestination {
  target: string;
  secret: string | null;
  server: string;
  headers: Readonly<Record<string, string>>;
  template: string | null;
}

/** E-mail addresses and chat IDs are shown, a URL is reduced to scheme and host. */
export function maskTarget(kind: ChannelKind, target: string): string {
  const format = CHANNEL_KINDS[kind].target?.format;
  if (format !== 'url') return kind === 'pushover' ? `${target.slice(0, 4)}…` : target;
  if (!URL.canParse(target)) return '…';
  const { protocol, host } = new URL(target);
  return `${protocol}//${host}/…`;
}
