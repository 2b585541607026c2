import type { ServerResponse } from 'node:http';
import type { EventStreamAnswer, ServerSentEvent } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { BodyStream } from '../wire/body-stream.js';
import { ResponseWriter } from './response-writer.js';

export interface EventStreamLimits {
  stallMs: number;
  mostPerListener: number;
}

const TOO_MANY_STREAMS = new Failure('rate_limited', 'Too many event streams are open; close one first.', {
  headers: { 'retry-after': '30' },
});

export class EventStreams {
  readonly #open = new Map<string, Set<AbortController>>();

  constructor(private readonly rules: EventStreamLimits) {}

  open(
    { events, options }: EventStreamAnswer,
    own: HttpResponse['headers'],
    head: boolean,
    listener: string,
    hooks: { failed: (thrown: unknown) => void; closed: () => void },
  ): HttpResponse | Failure {
    // The last header stops nginx from buffering events.
    const headers = { ...own, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
    if (head) {
      hooks.closed();
      return { status: 200, headers, body: null };
    }
    const theirs = this.#open.get(listener) ?? new Set();
    if (theirs.size >= this.rules.mostPerListener) return TOO_MANY_STREAMS;
    this.#open.set(listener, theirs);
    const end = new AbortController();
    theirs.add(end);
    const closed = (): void => {
      theirs.delete(end);
      if (theirs.size === 0) this.#open.delete(listener);
      hooks.closed();
    };
    const body = new EventStreamBody(events, options, end, this.rules.stallMs, { ...hooks, closed });
    return { status: 200, headers, body };
  }

  get count(): number {
    return [...this.#open.values()].reduce((sum, own) => sum + own.size, 0);
  }

  close(): void {
    for (const own of this.#open.values()) for (const end of own) end.abort();
  }
}

/** How long a checked credential stays valid. */
const CREDENTIAL_FRESH_MS = 500;

class EventStreamBody implements BodyStream {
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
    const out = new ResponseWriter(res, this.stallMs + heartbeatSeconds * 1000);
    const over = (): void => end.abort();
    res.once('close', over);
    const beat = setInterval(() => {
      if (!out.isBusy) void out.write(': \n\n');
    }, heartbeatSeconds * 1000);
    const ask = setInterval(() => void this.#checkSession(alive), aliveEverySeconds * 1000);
    try {
      // An initial line confirms the connection to the browser.
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

  async #forward(out: ResponseWriter): Promise<void> {
    const { signal } = this.end;
    const events = this.events(signal)[Symbol.asyncIterator]();
    const ended = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    let askedAt = performance.now();
    try {
      while (!signal.aborted) {
        const next = await Promise.race([events.next(), ended]);
        if (next === null || next.done === true) return;
        if (performance.now() - askedAt > CREDENTIAL_FRESH_MS) {
          await this.#checkSession(this.options.alive);
          askedAt = performance.now();
        }
        if (signal.aborted || !(await out.write(formatEvent(next.value)))) return;
      }
    } finally {
      // Not awaited, because a source may notice the signal late.
      events.return?.().catch(this.hooks.failed);
    }
  }

  async #checkSession(alive: (() => Promise<boolean>) | undefined): Promise<void> {
    try {
      if (alive !== undefined && !(await alive())) this.end.abort();
    } catch (thrown) {
      this.hooks.failed(thrown);
      this.end.abort();
    }
  }
}

const LINE_BREAK_PATTERN = /\r\n|\r|\n/;
const toSingleLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');

export function formatEvent({ event, data, id }: ServerSentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return [
    ...(id === undefined ? [] : [`id: ${toSingleLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${toSingleLine(event)}`]),
    ...text.split(LINE_BREAK_PATTERN).map((line) => `data: ${line}`),
    '\n',
  ].join('\n');
}
