/** An answer that goes on: server-sent events, for pages that change while they are looked at. */
import { Answer } from './answer.js';

export interface ServerSentEvent {
  /** The browser's name of the event; absent: `message`. */
  event?: string;
  /** Text of any number of lines, or what is sent as JSON. */
  data: string | object;
  /** Comes back as `Last-Event-ID` when the browser connects again. */
  id?: string;
}

export interface EventStreamOptions {
  /**
   * Asked every `aliveEverySeconds`; once it answers false, the stream ends. The server itself asks as often whether
   * the caller's session is still open and may still come here.
   */
  alive?: () => Promise<boolean>;
  /** Default 15. */
  aliveEverySeconds?: number;
  /**
   * A comment line goes this often when nothing else does, so that nothing in between closes the connection. Default
   * 15.
   */
  heartbeatSeconds?: number;
}

/**
 * Sent as `text/event-stream`, one event after the other, never compressed. It ends with the events, with the caller,
 * with `alive`, and at once when the service stops; the browser then connects again. One account, or one token, has a
 * bounded number of them at once: 429 beyond.
 */
export class EventStreamAnswer extends Answer {
  constructor(
    /** @param signal aborts when nobody listens any longer */
    readonly events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
    readonly options: EventStreamOptions = {},
  ) {
    super();
  }
}
