/** A channel: where notifications go, and which ones. Its target, secret and headers are stored encrypted. */
import type { Doc } from '../../../kernel/contract.js';
import type { NoteSeverity } from '../notes/note.js';
import { KINDS, type ChannelKind } from './kinds.js';
import type { Quiet } from './quiet-hours.js';

/** Every event, those of later versions included. */
export const ALL_EVENTS = '*';

/** Which notifications a channel wants. An empty list does not restrict. */
export interface ChannelFilter {
  /** Names of `TOPICS` and of events that end a fault, or `*`. */
  events: string[];
  min_severity: NoteSeverity;
  /** Sources; `*` stands for any characters. Restricts monitors only. */
  monitors: string[];
  /** An item has at least one of them. Restricts items only. */
  tags: string[];
  /** Slugs. What belongs to no project is left out. */
  projects: string[];
}

export interface Channel extends Doc, ChannelFilter {
  name: string;
  kind: ChannelKind;
  enabled: boolean;
  /** Encrypted; empty for a kind without target. */
  target: string;
  /** Encrypted. */
  secret: string | null;
  server: string | null;
  /** Encrypted JSON of names and values. */
  headers: string | null;
  template: string | null;
  /** Minutes between two reminders while a monitor is down; 0: none. */
  repeat_minutes: number;
  /** Minutes that a monitor's next alarm must last when it comes so soon after the one before; 0: none waits. */
  flap_minutes: number;
  quiet: Quiet | null;
  /** IANA name, for times in messages; null: the service's. */
  timezone: string | null;
  /** Critical notifications wait neither for the end of quiet hours nor for the digest. */
  critical_immediately: boolean;
  /** At most one message in so many minutes; 0: none waits. */
  digest_minutes: number;
  /** The digest holds back until then. */
  next_at: string | null;
  last_sent_at: string | null;
  last_error: string | null;
  /** First failed attempt since the last success. */
  failing_since: string | null;
  /** Why it disabled itself. */
  disabled_reason: string | null;
  disabled_at: string | null;
  /** Id of the `channel.disabled` that is still to be emitted. */
  disabled_event?: string;
  /** Who sends at the moment, and until when at the longest. */
  lease_by: string | null;
  lease_until: string | null;
  created_at: string;
  created_by: string;
  updated_at: string;
}

/** What an administrator sets. */
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

/** A channel's address and credentials, decrypted. */
export interface Destination {
  target: string;
  secret: string | null;
  server: string;
  headers: Readonly<Record<string, string>>;
  template: string | null;
}

/** A target as it may be shown: e-mail addresses and chat IDs whole, of a URL only scheme and host. */
export function maskTarget(kind: ChannelKind, target: string): string {
  const format = KINDS[kind].target?.format;
  if (format !== 'url') return kind === 'pushover' ? `${target.slice(0, 4)}…` : target;
  if (!URL.canParse(target)) return '…';
  const { protocol, host } = new URL(target);
  return `${protocol}//${host}/…`;
}
