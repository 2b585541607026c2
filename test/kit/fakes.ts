/**
 * Fakes of the ports, for tests of the kernel and of plugins. Nothing sleeps or listens, and all
 * state is readable.
 */
import type { Cipher } from '../../ports/cipher.js';
import type { PasswordHasher } from '../../ports/hasher.js';
import type { Authenticator } from '../../ports/http/index.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { Ids } from '../../ports/ids.js';
import type { EnqueueOptions, JobInfo, Jobs, JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import { OutboundError, type Outbound } from '../../ports/outbound.js';
import type { NetworkProbe } from '../../ports/network-probe.js';
import { SourceMapRejected, type SourceMaps } from '../../ports/source-map-reader.js';
import type { RouteTools } from '../../ports/tools.js';
import { YamlRejected, type YamlParser } from '../../ports/yaml-parser.js';

/** Returns increasing ids in the form of a UUIDv7. */
export class FakeIds implements Ids {
  #n = 0;
  constructor(private readonly prefix = '01980000') {}
  uuid(): string {
    return `${this.prefix}-0000-7000-8000-${(++this.#n).toString(16).padStart(12, '0')}`;
  }
  secret(length = 43): string {
    return (++this.#n).toString(36).padStart(length, '0');
  }
}

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  data: Record<string, unknown>;
}

export class RecordingLog implements Logger {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly bindings: object = {},
  ) {}
  debug = this.#createRecorder('debug');
  info = this.#createRecorder('info');
  warn = this.#createRecorder('warn');
  error = this.#createRecorder('error');
  child(bindings: object): Logger {
    return new RecordingLog(this.lines, { ...this.bindings, ...bindings });
  }
  messages(level: LogLine['level']): string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }
  #createRecorder(level: LogLine['level']): (data: object, message: string) => void {
    return (data, message) => this.lines.push({ level, message, data: { ...this.bindings, ...data } });
  }
}

export interface EnqueuedJob {
  name: string;
  data: unknown;
  key?: string;
  /** Earliest time, RFC 3339. */
  at?: string;
  retry?: number;
  /** Attempt number of a retry: 2 for the first one. */
  attempt?: number;
}

const getRetryDelayMs = (attempt: number): number => Math.min(3_600_000, 1_000 * 2 ** (attempt - 1));

/** Runs jobs on request; failures are recorded, as in the real implementation. */
export class FakeJobs implements Jobs {
  readonly defined = new Map<string, JobSpec>();
  readonly enqueued: EnqueuedJob[] = [];
  readonly failures = new Map<string, unknown>();
  state: 'new' | 'started' | 'drained' = 'new';

  define(spec: JobSpec): void {
    this.defined.set(spec.name, spec);
  }
  retire(name: string): void {
    this.defined.delete(name);
  }
  async start(): Promise<void> {
    this.state = 'started';
  }
  async enqueue(name: string, data: unknown = null, { key, at, retry }: EnqueueOptions = {}): Promise<void> {
    if (key !== undefined && this.enqueued.some((waiting) => waiting.name === name && waiting.key === key)) return;
    this.enqueued.push({
      name,
      data,
      ...(key !== undefined && { key }),
      ...(at !== undefined && { at }),
      ...(retry !== undefined && { retry }),
    });
  }
  /**
   * Runs a job to its end.
   * @throws the job's error
   */
  async run(name: string, data: unknown = null, attempt = 1, lastAttempt = true): Promise<void> {
    await this.#getJob(name).run({ data, signal: new AbortController().signal, attempt, lastAttempt });
  }
  /**
   * Runs a waiting job. A failed attempt with a retry left is enqueued again.
   * @param now milliseconds since 1970
   * @throws the error of the last attempt
   */
  async runEnqueued(job: EnqueuedJob, now: number): Promise<void> {
    const { name, data, attempt = 1, retry = 0 } = job;
    try {
      await this.run(name, data, attempt, attempt > retry);
    } catch (error) {
      this.failures.set(name, error);
      if (attempt > retry) throw error;
      const at = new Date(now + getRetryDelayMs(attempt)).toISOString();
      this.enqueued.push({ ...job, at, attempt: attempt + 1 });
    }
  }
  /** Removes and returns the first waiting job that is due. */
  takeDue(now: number): EnqueuedJob | undefined {
    const due = this.enqueued.findIndex(({ at }) => at === undefined || Date.parse(at) <= now);
    return due === -1 ? undefined : this.enqueued.splice(due, 1)[0];
  }
  async runNow(name: string, data: unknown = null): Promise<boolean> {
    const spec = this.#getJob(name);
    await this.run(spec.name, data).catch((error: unknown) => this.failures.set(name, error));
    return true;
  }
  #getJob(name: string): JobSpec {
    const spec = this.defined.get(name);
    if (spec !== undefined) return spec;
    throw new Error(`there is no job "${name}"; there are ${[...this.defined.keys()].join(', ') || 'none'}`);
  }
  async list(): Promise<JobInfo[]> {
    return [...this.defined.values()].map((spec) => ({
      name: spec.name,
      every_ms: spec.everyMs ?? null,
      cron: spec.cron ?? null,
      running: false,
      last_run_at: null,
      last_finished_at: null,
      next_run_at: null,
      fail_count: this.failures.has(spec.name) ? 1 : 0,
      fail_reason: null,
    }));
  }
  async drain(): Promise<void> {
    this.state = 'drained';
  }
}

/** Stores what was mounted and does not listen. */
export class FakeHttp implements HttpServer {
  mounted: Parameters<HttpServer['mount']>[0] | null = null;
  state: 'new' | 'listening' | 'stopped' = 'new';

  findFaults(): ReturnType<HttpServer['findFaults']> {
    return [];
  }
  async mount(parts: Parameters<HttpServer['mount']>[0]): Promise<void> {
    this.mounted = parts;
  }
  async start(): Promise<string> {
    this.state = 'listening';
    return 'http://127.0.0.1:0';
  }
  async stop(): Promise<void> {
    this.state = 'stopped';
  }
  async getOpenApi(): Promise<object> {
    return { openapi: '3.1.0' };
  }
  getTools(): RouteTools {
    return { list: () => [], call: () => Promise.resolve(null) };
  }
}

/** Readable on purpose, so that tests can see what was sealed and for which purpose. */
export const fakeCipher: Cipher = {
  seal: (plain, purpose) => `sealed(${purpose}):${plain}`,
  open: (sealed, purpose) => {
    const head = `sealed(${purpose}):`;
    if (!sealed.startsWith(head)) throw new Error('sealed for another purpose');
    return sealed.slice(head.length);
  },
  derive: (purpose) => Buffer.from(`key(${purpose})`),
};

export const fakeHasher: PasswordHasher = {
  hash: async (password) => `hash(${password})`,
  verify: async (password, hash) => ({ ok: hash === `hash(${password})`, rehash: false }),
};

/** A network on which every request fails. */
export const fakeOutbound: Outbound = {
  request: async () => {
    throw new OutboundError('connect', 'nobody answers');
  },
  checkUrl: () => null,
};

const rejectRequest = async (): Promise<never> => {
  throw new OutboundError('connect', 'nobody answers');
};
export const fakeReach: NetworkProbe = {
  checkHost: () => null,
  checkResolver: () => null,
  findAuthorityFault: () => null,
  connect: rejectRequest,
  lookup: rejectRequest,
  sendEcho: rejectRequest,
  findEchoFault: async () => null,
};

/** Finds no source map. */
export const fakeSourceMaps: SourceMaps = {
  unpack: async () => {
    throw new SourceMapRejected('is not read by this fake');
  },
  locate: async ({ positions }) => positions.map(() => null),
  close: async () => undefined,
};

export const fakeMetrics: Metrics = {
  counter: () => ({ inc: () => undefined }),
  gauge: () => undefined,
  gauges: () => undefined,
  histogram: () => ({ observe: () => undefined }),
  render: async () => '',
};

export const anonymousAuthenticator: Authenticator = {
  authenticateBearer: async () => null,
  authenticateSession: async () => null,
  getCsrfToken: () => '',
};

/** Parses JSON only, which is YAML too. */
export const fakeYamlParser: YamlParser = {
  parse: async (text) => {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new YamlRejected((error as Error).message);
    }
  },
};
