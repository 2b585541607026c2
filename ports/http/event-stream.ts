/** Server-sent events, for live page updates. */
import { Answer } from './answer.js';

export interface ServerSentEvent {
  event?: string;
  /** A value is sent as JSON. */
  data: string | object;
  /** Returned as `Last-Event-ID` when the browser reconnects. */
  id?: string;
}

export interface EventStreamOptions {
  /** Called every `aliveEverySeconds`; false ends the stream. */
  alive?: () => Promise<boolean>;
  /** Default 15. */
  aliveEverySeconds?: number;
  /** Interval of comment lines that keep an idle connection open. */
  heartbeatSeconds?: number;
}

/** Sends `text/event-stream`, uncompressed. Too many streams per account or token: 429. */
export class EventStreamAnswer extends Answer {
  constructor(
    /** @param signal aborts when the client disconnects */
    readonly events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
    readonly options: EventStreamOptions = {},
  ) {
    super();
  }
}
