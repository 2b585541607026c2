/**
 * A server with a fake authenticator, on a free port or none at all, and raw sockets to misbehave
 * with.
 */
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { HapiServer } from '../../../adapters/hapi/server.js';
import type { HapiServerOptions } from '../../../adapters/hapi/options.js';
import type {
  Authenticator,
  MountedPage,
  MountedPanel,
  MountedRoute,
  PageSpec,
  PanelSpec,
  Principal,
  Role,
  RouteSpec,
  TokenKind,
} from '../../../ports/http/index.js';
import type { Logger } from '../../../ports/logger.js';

/**
 * Source files: the compiled tests read the fixtures where they lie or where they were copied to.
 */
export const FIXTURE_WEB = fileURLToPath(new URL('../../fixtures/web', import.meta.url));
export const FIXTURE_VIEWS = fileURLToPath(new URL('../../fixtures/web-plugin/views', import.meta.url));
export const OTHER_VIEWS = fileURLToPath(new URL('../../fixtures/web-plugin/other-views', import.meta.url));
export const PARTED_VIEWS = fileURLToPath(new URL('../../fixtures/parted-views', import.meta.url));

export const tokenOf = (kind: TokenKind, ...scopes: string[]): Principal => ({
  kind: 'token',
  id: `${kind}:${scopes.join()}`,
  name: kind,
  token_kind: kind,
  scopes,
  project: null,
  source: null,
  parent_id: null,
});

const sessionOf = (role: Role): Principal & { kind: 'session' } => ({
  kind: 'session',
  session_id: `session-${role}`,
  account_id: role,
  username: `<${role}>`,
  role,
});

/**
 * `Bearer shared` is the shared key, `Bearer <kind>:<scope>,<scope>` a token with these; anything
 * else is unknown. A cookie `session-<role>` is a session. The form token of a cookie is
 * `csrf(<cookie>)`, in base64url.
 */
export const fakeAuthenticator: Authenticator = {
  authenticateBearer: async (secret) => {
    if (secret === 'shared') return { kind: 'shared_key' };
    if (secret === 'broken') throw new Error('the token store is down');
    const match = /^(master|sub|watchdog|setup|intake)(#\d+)?:(.*)$/.exec(secret);
    if (!match) return null;
    const principal = tokenOf(match[1] as TokenKind, ...match[3]!.split(',').filter(Boolean));
    return principal.kind === 'token' && match[2] ? { ...principal, id: secret } : principal;
  },
  authenticateSession: async (cookie) => {
    const role = /^session-(admin|member|installer)$/.exec(cookie)?.[1];
    return role ? sessionOf(role as Role) : null;
  },
  getCsrfToken: (cookie) => Buffer.from(`csrf(${cookie})`).toString('base64url'),
};

export interface LogLine {
  level: string;
  data: Record<string, unknown>;
  message: string;
}

export function fakeLogger(lines: LogLine[] = []): Logger & { lines: LogLine[] } {
  const at = (level: string) => (data: object, message: string) =>
    void lines.push({ level, data: data as Record<string, unknown>, message });
  const logger = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return logger;
}

export class FakeClock {
  at = 1_000_000;
  now = (): number => this.at;
  iso = (): string => new Date(this.at).toISOString();
  monotonic = (): number => this.at;
  readonly epoch = 'test';
}

let counter = 0;
export const fakeIds = {
  uuid: () => `00000000-0000-7000-8000-${String(++counter).padStart(12, '0')}`,
  secret: (length = 43) => 'x'.repeat(length),
};

export const fakeMetrics = {
  counter: () => ({ inc: () => undefined }),
  gauge: () => undefined,
  gauges: () => undefined,
  histogram: () => ({ observe: () => undefined }),
  render: async () => '',
};

export const NO_LIMITS = {
  json_bytes: 1024 * 1024,
  inflated_bytes: 8 * 1024 * 1024,
  intake_per_minute: 0,
  intake_burst: 0,
  api_per_minute: 0,
  bulk_per_minute: 0,
  auth_failures_per_minute: 0,
  public_per_minute: 0,
};

export interface TestParts {
  routes?: RouteSpec[];
  pages?: (PageSpec & { views?: string })[];
  panels?: (PanelSpec & { views?: string })[];
  ready?: () => boolean;
}

export class TestServer {
  readonly log = fakeLogger();
  readonly clock = new FakeClock();
  readonly server: HapiServer;
  url = '';

  private constructor(options: Partial<HapiServerOptions>) {
    this.server = new HapiServer({
      host: '127.0.0.1',
      port: 0,
      base_url: '',
      trusted_proxies: [],
      limits: NO_LIMITS,
      debug: false,
      version: '9.9.9',
      timezone: 'Europe/Berlin',
      webDir: FIXTURE_WEB,
      helpers: {},
      log: this.log,
      clock: this.clock,
      ids: fakeIds,
      metrics: fakeMetrics,
      ...options,
    });
  }

  static async create(
    parts: TestParts,
    options: Partial<HapiServerOptions> = {},
    authenticator: Authenticator = fakeAuthenticator,
  ): Promise<TestServer> {
    const test = new TestServer(options);
    const ready = parts.ready ?? (() => true);
    await test.server.mount({
      routes: (parts.routes ?? []).map((spec): MountedRoute => ({ plugin: 'test', spec, ready })),
      pages: (parts.pages ?? []).map(({ views = FIXTURE_VIEWS, ...spec }): MountedPage => ({
        plugin: 'test',
        spec,
        views,
        ready,
      })),
      panels: (parts.panels ?? []).map(({ views = FIXTURE_VIEWS, ...spec }): MountedPanel => ({
        plugin: 'test',
        spec,
        views,
      })),
      authenticator,
    });
    return test;
  }

  async start(): Promise<this> {
    this.url = await this.server.start();
    return this;
  }

  stop(timeoutMs = 1_000): Promise<void> {
    return this.server.stop(timeoutMs);
  }

  /** An injected request, its answer parsed where it is JSON. */
  async ask(
    method: string,
    url: string,
    options: { bearer?: string; headers?: Record<string, string>; json?: unknown; payload?: string | Buffer } = {},
  ): Promise<Asked> {
    const { bearer, headers = {}, json, payload } = options;
    const response = await this.server.inject({
      method: method,
      url,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined ? { payload: JSON.stringify(json) } : payload !== undefined ? { payload } : {}),
    });
    return new Asked(response.statusCode, response.headers as Record<string, string | string[]>, response.payload);
  }

  /** A raw connection. */
  connect(): RawConnection {
    const { hostname, port } = new URL(this.url);
    return new RawConnection(connect(Number(port), hostname));
  }
}

/** Descriptors of this process. */
export const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

/** Parsed JSON that a test looks into. */
export interface Loose {
  [key: string]: Loose;
}

export class Asked {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string | string[]>,
    readonly text: string,
  ) {}
  get body(): Loose {
    return JSON.parse(this.text) as Loose;
  }
  get code(): string {
    return this.body['error']?.['code'] as unknown as string;
  }
  get fields(): Record<string, string> {
    return this.body['error']?.['fields'] as unknown as Record<string, string>;
  }
}

export class RawConnection {
  received = '';
  closed = false;
  error: Error | null = null;

  readonly #gone: Promise<void>;

  constructor(readonly socket: Socket) {
    this.#gone = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (this.received += chunk));
    socket.on('close', () => (this.closed = true));
    socket.on('error', (error) => (this.error = error));
  }

  /** Resolves when the other side has taken it, or is gone. */
  async write(data: string | Buffer): Promise<void> {
    if (!this.socket.writable) return;
    await Promise.race([new Promise((resolve) => this.socket.write(data, resolve)), this.#gone]);
  }

  /** Polls until it holds. @throws after `ms` with what came so far */
  async until(holds: (connection: this) => boolean, ms = 60_000): Promise<void> {
    const end = Date.now() + ms;
    while (!holds(this)) {
      if (Date.now() > end) throw new Error(`it never held; received: ${this.received.slice(0, 2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  close(): void {
    this.socket.destroy();
  }
}
