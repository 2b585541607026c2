/**
 * Notifies open pages of changed topics. While at least one page subscribes to a topic, its version
 * is polled from the store, so that changes of every process are noticed.
 */
import { SingleFlight } from '../../lib/single-flight.js';
import type { Logger } from '../../kernel/contract/index.js';
import type { ServerSentEvent } from '../../ports/http/index.js';
import type { LiveTopic } from '../../ports/domain/live-topics.js';

const POLL_INTERVAL_MS = 2_000;

interface TopicRequest {
  name: string;
  mark(): Promise<string>;
}

function parseTopics(given: string, topics: readonly LiveTopic[]): TopicRequest[] {
  const [name, encoded = ''] = given.split(':', 2);
  const topic = topics.find((one) => one.name === name);
  if (topic === undefined) return [];
  const subject = decodeSubject(encoded);
  return subject === null ? [] : [{ name: given, mark: () => topic.getRevision(subject) }];
}

function decodeSubject(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

interface FollowedTopic {
  wake: Set<(topic: string) => void>;
  mark: string | null;
  timer: NodeJS.Timeout | null;
}

export class LiveHub {
  readonly #followed = new Map<string, FollowedTopic>();
  readonly #looking = new SingleFlight<void>();

  constructor(
    private readonly topics: () => readonly LiveTopic[],
    private readonly log: Logger,
    private readonly everyMs = POLL_INTERVAL_MS,
  ) {}

  get size(): number {
    return this.#followed.size;
  }

  async *streamEvents(names: readonly string[], signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const changed = new Set<string>();
    let awake = (): void => undefined;
    const wake = (topic: string): void => {
      changed.add(topic);
      awake();
    };
    const known = [...new Set(names)].flatMap((given) => parseTopics(given, this.topics()));
    const leave = known.map((topic) => this.#followTopic(topic, wake));
    const ended = (): void => awake();
    signal.addEventListener('abort', ended, { once: true });
    try {
      while (!signal.aborted) {
        // Includes other topics that just changed, so that the page reloads once instead of once
        // per topic.
        if (changed.size > 0) await Promise.all(known.map((topic) => this.#pollNow(topic)));
        // Cleared before sending, so that changes in the meantime are sent again.
        for (const data of changed) {
          changed.delete(data);
          yield { event: 'changed', data };
        }
        if (!signal.aborted) await new Promise<void>((resolve) => (awake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', ended);
      for (const end of leave) end();
    }
  }

  #followTopic(topic: TopicRequest, wake: (topic: string) => void): () => void {
    const { name } = topic;
    const followed = this.#followed.get(name) ?? { wake: new Set(), mark: null, timer: null };
    const first = !this.#followed.has(name);
    this.#followed.set(name, followed);
    followed.wake.add(wake);
    if (first) void this.#poll(topic, followed);
    return () => {
      followed.wake.delete(wake);
      if (followed.wake.size > 0) return;
      if (followed.timer !== null) clearTimeout(followed.timer);
      this.#followed.delete(name);
    };
  }

  async #pollNow(topic: TopicRequest): Promise<void> {
    const followed = this.#followed.get(topic.name);
    if (followed !== undefined) await this.#poll(topic, followed);
  }

  #poll(topic: TopicRequest, followed: FollowedTopic): Promise<void> {
    if (followed.timer !== null) clearTimeout(followed.timer);
    followed.timer = null;
    return this.#looking.fresh(topic.name, () => this.#readVersion(topic, followed));
  }

  async #readVersion(topic: TopicRequest, followed: FollowedTopic): Promise<void> {
    try {
      const mark = await topic.mark();
      const before = followed.mark;
      followed.mark = mark;
      if (before !== null && before !== mark) for (const wake of followed.wake) wake(topic.name);
    } catch (err) {
      this.log.warn({ err, topic: topic.name }, 'a live topic could not be queried');
    }
    if (followed.wake.size === 0) return;
    if (followed.timer !== null) clearTimeout(followed.timer);
    followed.timer = setTimeout(() => void this.#poll(topic, followed), this.everyMs);
    followed.timer.unref();
  }
}
