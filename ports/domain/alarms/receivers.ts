/** Plugins that forward alarms (contract 30, beyond the specification). */
import { extensionPoint } from '../../token.js';

/** A receiver that got an alarm. */
export interface AlarmReceiver {
  kind: string;
  name: string;
  event: 'monitor.down' | 'monitor.recovered';
  state: string;
  at: string | null;
  href: string;
}

/** Lists and notifies the receivers of alarms. */
export interface AlarmReceivers {
  /** @param event as it was emitted */
  listReceivers(event: { id: string; timestamp: string }): Promise<Omit<AlarmReceiver, 'event'>[]>;
  /** Forwards an acknowledgement or its withdrawal. */
  forwardAcknowledgement?(word: AlarmAcknowledgement): Promise<void>;
}

/** Acknowledgement of an open alarm for its receivers (contract 30, beyond the specification). */
export interface AlarmAcknowledgement {
  id: string;
  timestamp: string;
  alarm_id: string;
  source: string;
  by: string | null;
}

export const ALARM_RECEIVERS = extensionPoint<AlarmReceivers>('watchdog.alarm_receivers');
