/** Only this folder touches hapi's requests and responses. */
import { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isBoom } from '@hapi/boom';
import Hapi, { type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import type { HttpServer } from '../../ports/http-server.js';
import { CODES } from '../../kernel/errors.js';
import type { ErrorCodes, MountedPage, MountedRoute } from '../../ports/http/index.js';
import type { RouteTools } from '../../ports/tools.js';
import { createAddressResolver } from './wire/client-address.js';
import { ApiRoute } from './routes/api-route.js';
import { StaticAssets, ASSETS_PATH } from './pages/assets.js';
import { BodyReader } from './body/body-reader.js';
import { ErrorCodeTable } from './wire/error-code-table.js';
import { FallbackHandlers } from './fallback.js';
import { PreRouter } from './pre-router.js';
import { getErrorText } from './wire/failure.js';
import { resolveRequestId, buildStandardHeaders } from './wire/headers.js';
import { closeBehindProxy } from './transport/graceful-close.js';
import { MIN_COMPRESSED_BYTES, ResponseSender } from './transport/response-sender.js';
import { StreamSlots } from './limits/stream-slots.js';
import { UnsentBudget } from './limits/unsent-budget.js';
import { PathRegistry } from './path-registry.js';
import { RequestRouter } from './routes/request-router.js';
import { createListener, installListeners } from './transport/listener.js';
import { OpenRequests } from './transport/open-requests.js';
import { EventStreams } from './streams/event-streams.js';
import { BufferPool } from './streams/buffer-pool.js';
import { FairSlots } from './limits/fair-slots.js';
import { RequestsInFlight } from './limits/requests-in-flight.js';
import { ViewValidator } from './pages/view-validator.js';
import { Navigation } from './pages/navigation.js';
import { buildOpenApiDocument } from './openapi/openapi.js';
import type { HapiServerOptions } from './options.js';
import { PageRoute } from './pages/page-route.js';
import type { PageServices } from './pages/visitor.js';
import { CustomHostPaths } from './pages/custom-host-paths.js';
import { createBuiltInPages } from './pages/built-in-pages.js';
import { DashboardPanels } from './pages/panels.js';
import { SharedPageRoute } from './pages/shared-page-route.js';
import { SharedPageCache } from './pages/shared-page-cache.js';
import { listViewFolders, createFolderResolver } from './pages/view-folders.js';
import { RateLimits } from './limits/rate-limits.js';
import { RequestMetrics } from './transport/request-metrics.js';
import { RouteToolRegistry } from './routes/route-tools.js';
import { ViewRenderer } from './pages/view-renderer.js';
import { TokenLeakGuard } from './validation/token-leak-guard.js';

const MIB_BYTES = 1024 * 1024;
const STALL_TIMEOUT_MS = 60_000;
/** Others wait, alternating by address. */
const MAX_CONCURRENT_READS = 32;
const MAX_CONCURRENT_OPEN_PAGES = 4;
/** An address gets the unsent budget divided by this. */
const UNSENT_SHARE_DIVISOR = 4;
const UPLOAD_RATE = { bytes: 160 * 1024, windowMs: 20_000 };

/** The service reads bodies and parses cookies itself. */
const COOKIE_OPTIONS = { parse: false, failAction: 'ignore' } as const;
const UNPARSED_OPTIONS = {
  state: COOKIE_OPTIONS,
  payload: {
    parse: false,
    output: 'stream',
    maxBytes: Number.MAX_SAFE_INTEGER,
    override: 'application/octet-stream',
    timeout: false,
  },
} as const;

const CATCH_ALL_PATH = '/{path*}';

function isServedBy(pattern: string, path: string): boolean {
  const given = path.split('/');
  const parts = pattern.split('/');
  return parts.length === given.length && parts.every((part, i) => part === given[i] || part.startsWith('{'));
}

export class HapiServer implements HttpServer {
  readonly #server: Server;
  readonly #inFlight: RequestsInFlight;
  #closing = false;
  readonly #eventStreams: EventStreams;
  readonly #paths = new PathRegistry();
  readonly #handlers = new RequestRouter();
  readonly #requests: OpenRequests;
  #preRouter: PreRouter | null = null;
  #routes: readonly MountedRoute[] = [];
  #codes: ErrorCodes | null = null;
  #tools: RouteToolRegistry | null = null;
  #openapi: Promise<object> | null = null;

  constructor(private readonly options: HapiServerOptions) {
    const listener = createListener();
    this.#requests = new OpenRequests(options.requestLog ?? null);
    this.#inFlight = new RequestsInFlight(options.maxInFlight ?? 1_000);
    this.#eventStreams = new EventStreams({
      stallMs: options.stallMs ?? STALL_TIMEOUT_MS,
      mostPerListener: options.maxEventStreams ?? 10,
    });
    this.#server = Hapi.server({
      listener,
      host: options.host,
      port: options.port,
      // hapi would print errors to the console.
      debug: false,
      compression: { minBytes: MIN_COMPRESSED_BYTES },
      routes: { response: { emptyStatusCode: 200 } },
    });
    const { ids } = options;
    installListeners(listener, ids, this.#requests, (...args) => this.#preRouter?.tryHandle(...args) ?? false);
  }

  findFaults(
    { pages, panels }: Pick<Parameters<HttpServer['mount']>[0], 'pages' | 'panels'>,
    plugins: ReadonlySet<string>,
  ): ReturnType<HttpServer['findFaults']> {
    const { webDir, helpers } = this.options;
    const validator = new ViewValidator(webDir, Object.keys(helpers), pages);
    return [...plugins].flatMap((plugin) => {
      const own = pages.filter((page) => page.plugin === plugin);
      const words = new Set(own.map(({ spec }) => spec.path.split('/')[1] ?? ''));
      const folders = new Set([...own, ...panels.filter((panel) => panel.plugin === plugin)].map(({ views }) => views));
      const found = [
        ...own.flatMap((page) => validator.validatePage(page)),
        ...[...folders].flatMap((folder) => validator.validateFolder(folder, words, plugin)),
      ];
      return found.map((fault) => ({ plugin, fault }));
    });
  }

  async mount(parts: Parameters<HttpServer['mount']>[0]): Promise<void> {
    this.#routes = parts.routes;
    this.#codes = parts.codes ?? null;
    const assets = new StaticAssets(this.options.webDir, new Map(listViewFolders(parts)));
    const shared = await this.#createPageServices(parts, assets);
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
    for (const own of createBuiltInPages(shared)) {
      if (!shared.hasPage(own.spec.path)) this.#mountPage(own, shared);
    }
    for (const path of await assets.mount(this.#server)) this.#paths.add(path, ['GET']);
    this.#mountFallback(new FallbackHandlers(shared, parts.unavailable?.()), shared);
    this.#preRouter = new PreRouter(parts.hosts ?? [], shared, this.options.base_url);
  }

  async #createPageServices(parts: Parameters<HttpServer['mount']>[0], assets: StaticAssets): Promise<PageServices> {
    const { options } = this;
    const { log, clock, ids, debug, limits } = options;
    const helpers = { asset: assets.getUrl, ...options.helpers };
    const views = await ViewRenderer.create(this.#server, { webDir: options.webDir, helpers, debug });
    for (const [plugin, folder] of listViewFolders(parts)) await views.addFolder(folder, plugin);
    const wait = options.panelTimeoutMs ?? 2_000;
    const mostBytes =
      options.maxBodyBytesInFlight ?? Math.max(128 * MIB_BYTES, 8 * (limits.json_bytes + limits.inflated_bytes));
    const streams = new StreamSlots(options.maxStreams ?? 1_000);
    options.metrics.gauge('aos_http_requests_in_flight', 'Requests in progress', () => this.#inFlight.count);
    options.metrics.gauge('aos_http_streams', 'Files, uploads and event streams in progress', () => streams.count);
    const unsent = options.maxUnsentBytes ?? 128 * MIB_BYTES;
    const budget = new UnsentBudget(unsent, unsent / UNSENT_SHARE_DIVISOR);
    options.metrics.gauge(
      'aos_http_unsent_bytes',
      'Bytes of long responses waiting for slow readers',
      () => budget.heldBytes,
    );
    options.metrics.gauge(
      'aos_http_answers_cut',
      'Long responses that were cut off in favor of others',
      () => budget.evictedCount,
    );
    const addressOf = createAddressResolver(options.trusted_proxies, options.unlistedProxy);
    return {
      authenticator: parts.authenticator,
      codes: new ErrorCodeTable(this.#codes),
      space: parts.space ?? null,
      limits: new RateLimits(limits, clock, options.sharers),
      texts: new TokenLeakGuard(parts.liveTokens ?? null),
      bodies: new BodyReader({ limits, timeoutMs: options.bodyTimeoutMs ?? 60_000, mostBytes }),
      inFlight: this.#inFlight,
      turns: new FairSlots(MAX_CONCURRENT_READS),
      pageTurns: new FairSlots(MAX_CONCURRENT_OPEN_PAGES, true),
      streams: {
        places: streams,
        events: this.#eventStreams,
        buffers: new BufferPool(),
        stallMs: options.stallMs ?? STALL_TIMEOUT_MS,
        uploadRate: options.uploadRate ?? UPLOAD_RATE,
      },
      requests: this.#requests,
      sending: new ResponseSender({
        requests: this.#requests,
        stopping: () => this.#closing,
        budget,
        stallMs: options.stallMs ?? STALL_TIMEOUT_MS,
        addressOf,
        failed: (err) => log.error({ err }, `a response could not be sent: ${getErrorText(err)}`),
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
      headers: buildStandardHeaders(options.base_url),
      navigation: new Navigation(parts.pages, log, clock, wait),
      servesPage: this.#handlers.servesPage,
      hasPage: (path) => parts.pages.some(({ spec }) => isServedBy(spec.path, path)),
      sharedPages: new SharedPageCache(() => clock.monotonic()),
      ownHostPaths: new CustomHostPaths(),
      panels: new DashboardPanels(parts.panels, views, log, wait),
      forms: parts.forms ?? null,
      projects: parts.projects ?? null,
      viewsOf: createFolderResolver(options.webDir, parts),
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

  #mountFallback(fallback: FallbackHandlers, shared: PageServices): void {
    for (const known of this.#paths.list()) {
      const { path, cors } = known;
      const refuse = fallback.createWrongMethodHandler(known);
      for (const method of ['*', ...this.#paths.listBorrowedMethods(known)] as const)
        this.#handlers.add(method, path, refuse);
      if (cors) this.#handlers.add('OPTIONS', path, fallback.createOptionsHandler(known));
    }
    this.#handlers.add('*', CATCH_ALL_PATH, fallback.handleUnknownPath);
    const { handler } = this.#handlers;
    // hapi takes no payload options for GET.
    this.#server.route({ method: 'GET', path: CATCH_ALL_PATH, handler, options: { state: COOKIE_OPTIONS } });
    this.#server.route({ method: '*', path: CATCH_ALL_PATH, handler, options: UNPARSED_OPTIONS });
    this.#server.ext('onPreResponse', (request: Request, h: ResponseToolkit) => {
      const { response } = request;
      if (isBoom(response)) return fallback.handleBoom(request, h, response);
      if (request.path.startsWith(ASSETS_PATH)) {
        const { req, res } = request.raw;
        const id = resolveRequestId(req.headers['x-request-id'], shared.ids);
        this.#requests.setDetails(req, { id, route: `${ASSETS_PATH}{path*}`, who: () => 'nobody' });
        if (req instanceof IncomingMessage) res.setTimeout(shared.streams.stallMs, () => res.destroy());
        Object.assign(response.headers, shared.headers.asset, {
          'cache-control': shared.assets.getCacheControl(request.path, (request.query as Record<string, unknown>)['v']),
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
    const gracefulClose = this.options.trusted_proxies.length > 0 ? closeBehindProxy(this.#server.listener) : null;
    if (gracefulClose === null) this.#server.listener.close();
    this.#eventStreams.close();
    // Requests on kept-alive proxy connections are still served.
    await gracefulClose;
    this.#inFlight.stop();
    this.#eventStreams.close();
    // hapi closes connections with requests it has not seen.
    await this.#requests.drain(left());
    await this.#server.stop({ timeout: left() });
  }

  getOpenApi(): Promise<object> {
    const { version, base_url } = this.options;
    return (this.#openapi ??= buildOpenApiDocument(this.#routes, { version, base_url, codes: this.#codes ?? CODES }));
  }

  getTools(): RouteTools {
    return (this.#tools ??= new RouteToolRegistry(this.#routes, (request) => this.#server.inject(request)));
  }

  inject(request: Hapi.ServerInjectOptions | string): Promise<Hapi.ServerInjectResponse> {
    return this.#server.inject(request);
  }
}
