/**
 * The web server: hapi as router and transport, with the rules of contract 00 for every request.
 * Only this folder touches hapi's requests and responses.
 */
import { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isBoom } from '@hapi/boom';
import Hapi, { type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { HttpServer } from '../../ports/http-server.js';
import { CODES } from '../../kernel/errors.js';
import type { ErrorCodes, MountedPage, MountedRoute } from '../../ports/http.js';
import type { RouteTools } from '../../ports/tools.js';
import { addressReader } from './wire/address.js';
import { ApiRoute } from './routes/api-route.js';
import { Assets, ASSETS } from './pages/assets.js';
import { BodyReader } from './body/body-reader.js';
import { DeclaredCodes } from './wire/declared-codes.js';
import { Fallback } from './fallback.js';
import { Front } from './front.js';
import { textOf } from './wire/failure.js';
import { requestId, standardHeaders } from './wire/headers.js';
import { closeBehindProxy } from './transport/closing.js';
import { COMPRESSED_FROM, Sending } from './transport/send.js';
import { StreamPlaces } from './limits/stream-places.js';
import { UnsentBudget } from './limits/unsent-budget.js';
import { KnownPaths } from './known-paths.js';
import { Handlers } from './routes/handlers.js';
import { makeListener, ownListener } from './transport/listener.js';
import { OpenRequests } from './transport/open-requests.js';
import { EventStreams } from './streams/event-streams.js';
import { PieceBuffers } from './streams/piece-buffers.js';
import { FairSlots } from './limits/fair-slots.js';
import { RequestsInFlight } from './limits/in-flight.js';
import { ViewJudge } from './pages/judge-views.js';
import { Navigation } from './pages/navigation.js';
import { describeRoutes } from './openapi/openapi.js';
import type { HapiServerOptions } from './options.js';
import { PageRoute } from './pages/page-route.js';
import type { PageServices } from './pages/visitor.js';
import { OwnHostPaths } from './pages/own-host-paths.js';
import { ownPages } from './pages/own-pages.js';
import { Panels } from './pages/panels.js';
import { SharedPageRoute } from './pages/shared-page-route.js';
import { SharedPages } from './pages/shared-pages.js';
import { owners, viewFolders } from './pages/view-folders.js';
import { RateLimits } from './limits/rate-limits.js';
import { RequestMetrics } from './transport/request-metrics.js';
import { ToolTable } from './routes/tools.js';
import { Views } from './pages/views.js';
import { WrittenTexts } from './validation/written-texts.js';

const MIB = 1024 * 1024;
const STALL_MS = 60_000;
/** Concurrent reads with a credential; others wait, alternating by address. */
const READ_AT_ONCE = 32;
const OPEN_PAGES_AT_ONCE = 4;
/** An address gets the unsent budget divided by this. */
const UNSENT_SHARE = 4;
const UPLOAD_RATE = { bytes: 160 * 1024, windowMs: 20_000 };

/** The service reads bodies and parses cookies itself. */
const COOKIES = { parse: false, failAction: 'ignore' } as const;
const UNREAD = {
  state: COOKIES,
  payload: {
    parse: false,
    output: 'stream',
    maxBytes: Number.MAX_SAFE_INTEGER,
    override: 'application/octet-stream',
    timeout: false,
  },
} as const;

const EVERY_PATH = '/{path*}';

export class HapiServer implements HttpServer {
  readonly #server: Server;
  readonly #inFlight: RequestsInFlight;
  #closing = false;
  readonly #eventStreams: EventStreams;
  readonly #paths = new KnownPaths();
  readonly #handlers = new Handlers();
  readonly #requests: OpenRequests;
  #front: Front | null = null;
  #routes: readonly MountedRoute[] = [];
  #codes: ErrorCodes | null = null;
  #tools: ToolTable | null = null;
  #openapi: Promise<object> | null = null;

  constructor(private readonly options: HapiServerOptions) {
    const listener = makeListener();
    this.#requests = new OpenRequests(options.requestLog ?? null);
    this.#inFlight = new RequestsInFlight(options.maxInFlight ?? 1_000);
    this.#eventStreams = new EventStreams({
      stallMs: options.stallMs ?? STALL_MS,
      mostPerListener: options.maxEventStreams ?? 10,
    });
    this.#server = Hapi.server({
      listener,
      host: options.host,
      port: options.port,
      // hapi would print errors to the console.
      debug: false,
      compression: { minBytes: COMPRESSED_FROM },
      routes: { response: { emptyStatusCode: 200 } },
    });
    const { ids } = options;
    ownListener(listener, ids, this.#requests, (...asked) => this.#front?.answer(...asked) ?? false);
  }

  faults(
    { pages, panels }: Pick<Parameters<HttpServer['mount']>[0], 'pages' | 'panels'>,
    plugins: ReadonlySet<string>,
  ): ReturnType<HttpServer['faults']> {
    const { webDir, helpers } = this.options;
    const judge = new ViewJudge(webDir, Object.keys(helpers), pages);
    return [...plugins].flatMap((plugin) => {
      const own = pages.filter((page) => page.plugin === plugin);
      const words = new Set(own.map(({ spec }) => spec.path.split('/')[1] ?? ''));
      const folders = new Set([...own, ...panels.filter((panel) => panel.plugin === plugin)].map(({ views }) => views));
      const found = [
        ...own.flatMap((page) => judge.page(page)),
        ...[...folders].flatMap((folder) => judge.folder(folder, words, plugin)),
      ];
      return found.map((fault) => ({ plugin, fault }));
    });
  }

  async mount(parts: Parameters<HttpServer['mount']>[0]): Promise<void> {
    this.#routes = parts.routes;
    this.#codes = parts.codes ?? null;
    const assets = new Assets(this.options.webDir, new Map(owners(parts)));
    const shared = await this.#shared(parts, assets);
    const each = <T extends { plugin: string }>(all: readonly T[], mount: (one: T) => void): void => {
      for (const one of all) {
        try {
          mount(one);
        } catch (error) {
          if (parts.failed === undefined) throw error;
          parts.failed(one.plugin, error);
        }
      }
    };
    each(parts.routes, (route) => {
      this.#mountRoute(route, new ApiRoute(route, shared));
      if (route.spec.onOwnHosts === true) shared.ownHostPaths.add(route.plugin, route.spec.path);
    });
    each(parts.pages, (page) => this.#mountPage(page, shared));
    for (const own of ownPages(shared)) {
      if (!shared.hasPage(own.spec.path)) this.#mountPage(own, shared);
    }
    for (const path of await assets.serve(this.#server)) this.#paths.add(path, ['GET']);
    this.#mountFallback(new Fallback(shared, parts.unavailable?.()), shared);
    this.#front = new Front(parts.hosts ?? [], shared, this.options.base_url);
  }

  async #shared(parts: Parameters<HttpServer['mount']>[0], assets: Assets): Promise<PageServices> {
    const { options } = this;
    const { log, clock, ids, debug, limits } = options;
    const helpers = { asset: assets.address, ...options.helpers };
    const views = await Views.on(this.#server, { webDir: options.webDir, helpers, debug });
    for (const [plugin, folder] of owners(parts)) await views.add(folder, plugin);
    const wait = options.panelTimeoutMs ?? 2_000;
    const mostBytes =
      options.maxBodyBytesInFlight ?? Math.max(128 * MIB, 8 * (limits.json_bytes + limits.inflated_bytes));
    const streams = new StreamPlaces(options.maxStreams ?? 1_000);
    options.metrics.gauge('aos_http_requests_in_flight', 'Requests at work', () => this.#inFlight.count);
    options.metrics.gauge('aos_http_streams', 'Files, uploads and event streams under way', () => streams.count);
    const unsent = options.maxUnsentBytes ?? 128 * MIB;
    const budget = new UnsentBudget(unsent, unsent / UNSENT_SHARE);
    options.metrics.gauge('aos_http_unsent_bytes', 'Long answers that wait for their readers', () => budget.held);
    options.metrics.gauge('aos_http_answers_cut', 'Long answers that gave way to others', () => budget.cut);
    const addressOf = addressReader(options.trusted_proxies, options.unlistedProxy);
    return {
      authenticator: parts.authenticator,
      codes: new DeclaredCodes(this.#codes),
      space: parts.space ?? null,
      limits: new RateLimits(limits, clock, options.sharers),
      texts: new WrittenTexts(parts.liveTokens ?? null),
      bodies: new BodyReader({ limits, timeoutMs: options.bodyTimeoutMs ?? 60_000, mostBytes }),
      inFlight: this.#inFlight,
      turns: new FairSlots(READ_AT_ONCE),
      pageTurns: new FairSlots(OPEN_PAGES_AT_ONCE, true),
      streams: {
        places: streams,
        events: this.#eventStreams,
        buffers: new PieceBuffers(),
        stallMs: options.stallMs ?? STALL_MS,
        uploadRate: options.uploadRate ?? UPLOAD_RATE,
      },
      requests: this.#requests,
      sending: new Sending({
        requests: this.#requests,
        stopping: () => this.#closing,
        budget,
        stallMs: options.stallMs ?? STALL_MS,
        addressOf,
        failed: (err) => log.error({ err }, `an answer could not be sent: ${textOf(err)}`),
      }),
      addressOf,
      timings: new RequestMetrics(options.metrics),
      log,
      clock,
      ids,
      debug,
      views,
      assets,
      secure: options.base_url.startsWith('https:'),
      headers: standardHeaders(options.base_url),
      navigation: new Navigation(parts.pages, log, clock, wait),
      servesPage: this.#handlers.servesPage,
      hasPage: (path) => parts.pages.some(({ spec }) => spec.path === path),
      sharedPages: new SharedPages(() => clock.monotonic()),
      ownHostPaths: new OwnHostPaths(),
      panels: new Panels(parts.panels, views, log, wait),
      forms: parts.forms ?? null,
      projects: parts.projects ?? null,
      viewsOf: viewFolders(options.webDir, parts),
      version: options.version,
      timezone: options.timezone,
    };
  }

  #mountRoute({ spec }: MountedRoute, route: ApiRoute): void {
    for (const path of [spec.path, ...(spec.aliases ?? [])]) {
      for (const method of [spec.method].flat()) this.#handlers.add(method, path, route.handler);
      this.#paths.add(path, [spec.method].flat(), spec);
    }
  }

  #mountPage(page: MountedPage, shared: PageServices): void {
    const { path, method = 'GET', shared: everybody, onOwnHosts = everybody !== undefined } = page.spec;
    const { handler } =
      everybody === undefined ? new PageRoute(page, shared) : new SharedPageRoute(page, everybody.maxAgeMs, shared);
    if (onOwnHosts) shared.ownHostPaths.add(page.plugin, path);
    this.#handlers.add(method, path, handler, method === 'GET');
    this.#paths.add(path, [method]);
  }

  #mountFallback(fallback: Fallback, shared: PageServices): void {
    for (const known of this.#paths.all()) {
      const { path, cors } = known;
      const refuse = fallback.wrongMethod(known);
      for (const method of ['*', ...this.#paths.borrowed(known)] as const) this.#handlers.add(method, path, refuse);
      if (cors) this.#handlers.add('OPTIONS', path, fallback.options(known));
    }
    this.#handlers.add('*', EVERY_PATH, fallback.unknown);
    const { handler } = this.#handlers;
    // hapi takes no payload options for GET.
    this.#server.route({ method: 'GET', path: EVERY_PATH, handler, options: { state: COOKIES } });
    this.#server.route({ method: '*', path: EVERY_PATH, handler, options: UNREAD });
    this.#server.ext('onPreResponse', (request: Request, h: ResponseToolkit) => {
      const { response } = request;
      if (isBoom(response)) return fallback.boom(request, h, response);
      if (request.path.startsWith(ASSETS)) {
        const { req, res } = request.raw;
        const id = requestId(req.headers['x-request-id'], shared.ids);
        this.#requests.known(req, { id, route: `${ASSETS}{path*}`, who: () => 'nobody' });
        if (req instanceof IncomingMessage) res.setTimeout(shared.streams.stallMs, () => res.destroy());
        Object.assign(response.headers, shared.headers.asset, {
          'cache-control': shared.assets.caching(request.path, (request.query as Record<string, unknown>)['v']),
          'x-request-id': id,
        });
      }
      return h.continue;
    });
  }

  async start(): Promise<string> {
    await this.#server.start();
    const { address, family, port } = this.#server.listener.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  async stop(timeoutMs: number): Promise<void> {
    this.#closing = true;
    // The listener closes first (contract 95, shutdown).
    const began = performance.now();
    const left = (): number => Math.max(0, timeoutMs - (performance.now() - began));
    const kept = this.options.trusted_proxies.length > 0 ? closeBehindProxy(this.#server.listener) : null;
    if (kept === null) this.#server.listener.close();
    this.#eventStreams.close();
    // Requests on kept-alive proxy connections are still served.
    await kept;
    this.#inFlight.stop();
    this.#eventStreams.close();
    // Drained before hapi stops, because hapi closes connections with requests it has not seen.
    await this.#requests.drained(left());
    await this.#server.stop({ timeout: left() });
  }

  openapi(): Promise<object> {
    const { version, base_url } = this.options;
    return (this.#openapi ??= describeRoutes(this.#routes, { version, base_url, codes: this.#codes ?? CODES }));
  }

  tools(): RouteTools {
    return (this.#tools ??= new ToolTable(this.#routes, (request) => this.#server.inject(request)));
  }

  inject(request: Hapi.ServerInjectOptions | string): Promise<Hapi.ServerInjectResponse> {
    return this.#server.inject(request);
  }
}
