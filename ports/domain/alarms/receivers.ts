/** Who passes alarms on, and what those are told who were told of one (contract 30, beyond the specification). */
import { extensionPoint } from '../../token.js';

/** Whom an alarm was passed on to. */
export interface AlarmReceiver {
  /** `webhook`, `channel`. */
  kind: string;
  name: string;
  event: 'monitor.down' | 'monitor.recovered';
  /** How far it is, in the words of its plugin: `success`, `sent`, `waiting`. */
  state: string;
  at: string | null;
  /** Its page. */
  href: string;
}

/** Knows who was told of an event. */
export interface AlarmReceivers {
  /** @param event as it was emitted */
  told(event: { id: string; timestamp: string }): Promise<Omit<AlarmReceiver, 'event'>[]>;
  /** Passes on that somebody is on it, or is no longer. Resolves when it is stored; twice with one id is once. */
  said?(word: AlarmWord): Promise<void>;
}

/** What people say of an open alarm, for those alone who were told of it (contract 30, beyond the specification). */
export interface AlarmWord {
  id: string;
  timestamp: string;
  alarm_id: string;
  source: string;
  /** Who is on it; null: nobody any more. */
  by: string | null;
}

/** Added by the plugins that pass alarms on. */
export const ALARM_RECEIVERS = extensionPoint<AlarmReceivers>('watchdog.alarm_receivers');
