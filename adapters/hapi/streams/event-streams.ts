/** Server-sent events: all open streams, a bounded number for each listener, and their end when the service stops. */
import type { ServerResponse } from 'node:http';
import type { EventStreamAnswer, ServerSentEvent } from '../../../ports/http.js';
import { Failure } from '../wire/failure.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { BodyStream } from '../wire/body-stream.js';
import { Outflow } from './outflow.js';

export interface EventStreamRules {
  stallMs: number;
  /** Streams that one account, token or address may have at once. */
  mostPerListener: number;
}

const TOO_MANY = new Failure('rate_limited', 'Too many event streams are open; close one first.', {
  headers: { 'retry-after': '30' },
});

export class EventStreams {
  readonly #open = new Map<string, Set<AbortController>>();

  constructor(private readonly rules: EventStreamRules) {}

  /**
   * Opens a stream.
   * @param head only the head is asked for
   * @param listener whose streams are counted together
   * @param closed called once, at the stream's end
   */
  response(
    { events, options }: EventStreamAnswer,
    own: HttpResponse['headers'],
    head: boolean,
    listener: string,
    hooks: { failed: (thrown: unknown) => void; closed: () => void },
  ): HttpResponse | Failure {
    // The last header keeps nginx from holding events back.
    const headers = { ...own, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
    if (head) {
      hooks.closed();
      return { status: 200, headers, body: null };
    }
    const theirs = this.#open.get(listener) ?? new Set();
    if (theirs.size >= this.rules.mostPerListener) return TOO_MANY;
    this.#open.set(listener, theirs);
    const end = new AbortController();
    theirs.add(end);
    const closed = (): void => {
      theirs.delete(end);
      if (theirs.size === 0) this.#open.delete(listener);
      hooks.closed();
    };
    const body = new EventBody(events, options, end, this.rules.stallMs, { ...hooks, closed });
    return { status: 200, headers, body };
  }

  get count(): number {
    return [...this.#open.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** Ends all streams: the service stops. */
  close(): void {
    for (const own of this.#open.values()) for (const end of own) end.abort();
  }
}

/** Milliseconds for which a credential that was checked lets events through. */
const FRESH_MS = 500;

class EventBody implements BodyStream {
  readonly bytes = null;

  constructor(
    private readonly events: EventStreamAnswer['events'],
    private readonly options: EventStreamAnswer['options'],
    private readonly end: AbortController,
    private readonly stallMs: number,
    private readonly hooks: { failed: (thrown: unknown) => void; closed: () => void },
  ) {}

  async send(res: ServerResponse): Promise<void> {
    const { end, hooks } = this;
    const { alive, aliveEverySeconds = 15, heartbeatSeconds = 15 } = this.options;
    const out = new Outflow(res, this.stallMs + heartbeatSeconds * 1000);
    const over = (): void => end.abort();
    res.once('close', over);
    const beat = setInterval(() => {
      if (!out.busy) void out.write(': \n\n');
    }, heartbeatSeconds * 1000);
    const ask = setInterval(() => void this.#ask(alive), aliveEverySeconds * 1000);
    try {
      // A first line tells the browser at once that it is connected.
      await out.write(': \n\n');
      await this.#forward(out);
    } catch (thrown) {
      hooks.failed(thrown);
    } finally {
      clearInterval(beat);
      clearInterval(ask);
      res.off('close', over);
      end.abort();
      hooks.closed();
      res.end();
    }
  }

  async #forward(out: Outflow): Promise<void> {
    const { signal } = this.end;
    const events = this.events(signal)[Symbol.asyncIterator]();
    const ended = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    let askedAt = performance.now();
    try {
      while (!signal.aborted) {
        const next = await Promise.race([events.next(), ended]);
        if (next === null || next.done === true) return;
        if (performance.now() - askedAt > FRESH_MS) {
          await this.#ask(this.options.alive);
          askedAt = performance.now();
        }
        if (signal.aborted || !(await out.write(wire(next.value)))) return;
      }
    } finally {
      // Not awaited: a source that waits for its next event may take its time to see the signal.
      events.return?.().catch(this.hooks.failed);
    }
  }

  /** Ends the stream when the session has ended: nothing more is for this listener. */
  async #ask(alive: (() => Promise<boolean>) | undefined): Promise<void> {
    try {
      if (alive !== undefined && !(await alive())) this.end.abort();
    } catch (thrown) {
      this.hooks.failed(thrown);
      this.end.abort();
    }
  }
}

const LINES = /\r\n|\r|\n/;
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');

/** An event as the browser reads it: each line of the data by itself, and an empty line behind. */
export function wire({ event, data, id }: ServerSentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return [
    ...(id === undefined ? [] : [`id: ${oneLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${oneLine(event)}`]),
    ...text.split(LINES).map((line) => `data: ${line}`),
    '\n',
  ].join('\n');
}
