/**
 * Plugins that forward alarms, and acknowledgements for their receivers (contract 30, beyond the
 * specification).
 */
import { extensionPoint } from '../../token.js';

/** A receiver that got an alarm. */
export interface AlarmReceiver {
  /** `webhook`, `channel`. */
  kind: string;
  name: string;
  event: 'monitor.down' | 'monitor.recovered';
  /** Delivery state as its plugin names it: `success`, `sent`, `waiting`. */
  state: string;
  at: string | null;
  href: string;
}

/** Lists and notifies the receivers of alarms. */
export interface AlarmReceivers {
  /** Lists the receivers of an event. @param event as it was emitted */
  listReceivers(event: { id: string; timestamp: string }): Promise<Omit<AlarmReceiver, 'event'>[]>;
  /**
   * Forwards an acknowledgement or its withdrawal. Resolves when it is stored; repeats with one id
   * are ignored.
   */
  forwardAcknowledgement?(word: AlarmAcknowledgement): Promise<void>;
}

/** Acknowledgement of an open alarm for its receivers (contract 30, beyond the specification). */
export interface AlarmAcknowledgement {
  id: string;
  timestamp: string;
  alarm_id: string;
  source: string;
  /** User who works on it; null: acknowledgement withdrawn. */
  by: string | null;
}

/** For plugins that forward alarms. */
export const ALARM_RECEIVERS = extensionPoint<AlarmReceivers>('watchdog.alarm_receivers');
