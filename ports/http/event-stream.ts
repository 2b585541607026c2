/** Server-sent events, for live page updates. */
import { Answer } from './answer.js';

export interface ServerSentEvent {
  /** Event name; default `message`. */
  event?: string;
  /** Text of any number of lines, or a value sent as JSON. */
  data: string | object;
  /** Returned as `Last-Event-ID` when the browser reconnects. */
  id?: string;
}

export interface EventStreamOptions {
  /**
   * Called every `aliveEverySeconds`; false ends the stream. The server also rechecks the caller's
   * session and access.
   */
  alive?: () => Promise<boolean>;
  /** Default 15. */
  aliveEverySeconds?: number;
  /** Interval of comment lines that keep an idle connection open. Default 15. */
  heartbeatSeconds?: number;
}

/**
 * Sends `text/event-stream`, uncompressed, until the events, the client, `alive` or the service end
 * it; browsers reconnect. Too many streams per account or token: 429.
 */
export class EventStreamAnswer extends Answer {
  constructor(
    /** @param signal aborts when the client disconnects */
    readonly events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
    readonly options: EventStreamOptions = {},
  ) {
    super();
  }
}
