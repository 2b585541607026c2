/** A notification: what one event says to people. */
import type { Scalar } from '../../../ports/store.js';
import type { Topic } from './topics.js';

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type NoteSeverity = (typeof SEVERITIES)[number];

/**
 * Where in the life of a fault it stands. `recovered`: all is well again. `closed`: the alarm ended without that, for
 * example because the monitor was deleted.
 */
export type NotePhase = 'begin' | 'reminder' | 'acknowledged' | 'unassigned' | 'recovered' | 'closed';

export interface Note {
  /** Null: what follows a beginning, for those who were sent it. */
  topic: Topic | null;
  phase: NotePhase;
  severity: NoteSeverity;
  title: string;
  text: string;
  /** Path of the page about it. */
  path: string;
  /** What began, or has ended with it: all notifications of a fault carry the same. */
  fault: string | null;
  /** Source of the monitor that it is about. */
  monitor: string | null;
  /** Of the item or monitor that it is about; null: it is about neither. */
  tags: readonly string[] | null;
  /** Values for templates, by name. */
  details: Record<string, Scalar>;
}

/** Data of `channel.disabled`. */
export interface ChannelDisabled {
  id: string;
  name: string;
  kind: string;
  reason: string;
}
