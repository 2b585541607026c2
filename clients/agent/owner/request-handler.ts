/**
 * Handles requests of the child, and denies every server, project or service that root did not
 * name.
 */
import { AgentFailure } from '../exit.js';
import type { Action } from '../options/table.js';
import { isInteractive } from '../prompts.js';
import { isPackageUrl } from '../../../lib/formats/platform.js';
import { resolveServerPath } from '../options/address.js';
import type { PackageResponse } from '../net/network.js';
import type { SetupApi } from '../net/session.js';
import type { Agent } from '../update/installation.js';
import type { OwnerRequest } from './messages.js';

const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const UPDATE_ROUTES = ['pubkey', 'check', 'freshness'];
const MAX_OPEN_RESPONSES = 4;

/** Setup routes by action: an update needs none, so it gets none. */
const SETUP_ROUTES: Readonly<Record<Action, { get: readonly string[]; post: readonly string[] }>> = {
  update: { get: [], post: [] },
  recover: { get: [], post: [] },
  rollback: { get: [], post: [] },
  schedule: { get: [], post: [] },
  install: { get: ['catalog'], post: ['token', 'agent'] },
  configure: { get: [], post: ['token'] },
  monitor: { get: [], post: ['agent'] },
};

export interface ParentContext {
  /**
   * Product whose packages may be opened: root's project, else the one that the tree claimed. Null
   * for any.
   */
  product: string | null;
  /** True when an account exists. No prompt is shown once the child shares the terminal. */
  account: boolean;
}

export class OwnerRequestHandler {
  readonly #packages = new Map<number, { answer: PackageResponse; content: AsyncIterator<Buffer> }>();
  #last = 0;
  #session: SetupApi | null = null;

  constructor(
    private readonly agent: Agent,
    private readonly known: ParentContext,
  ) {}

  async handle(ownerRequest: OwnerRequest): Promise<unknown> {
    const { network } = this.agent;
    switch (ownerRequest.call) {
      case 'control':
        return this.#controlService(ownerRequest.verb);
      case 'ask':
        return network.getJson(this.#resolveApiUrl(ownerRequest.url), this.#capBytes(ownerRequest.most));
      case 'open':
        return this.#openPackage(ownerRequest.url, ownerRequest.headers);
      case 'read':
        return this.#readChunk(ownerRequest.handle);
      case 'drop':
        return this.#dropResponse(ownerRequest.handle);
      case 'login':
        return this.#login();
      case 'get':
        return this.#getSetupApi('get', ownerRequest.route).get(
          ownerRequest.route,
          ownerRequest.query,
          this.#capBytes(ownerRequest.most),
        );
      case 'post':
        this.#validateContent(ownerRequest.route, ownerRequest.content);
        return this.#getSetupApi('post', ownerRequest.route).post(
          ownerRequest.route,
          ownerRequest.content,
          this.#capBytes(ownerRequest.most),
        );
      default:
        throw createDeniedFailure('this');
    }
  }

  async #controlService(verb: string): Promise<void> {
    const { restart, service } = this.agent.options;
    if (!restart || service === null) throw new AgentFailure('error', 'the service is not set');
    if (verb !== 'stop' && verb !== 'start') throw createDeniedFailure('this');
    await this.agent.control(verb, service);
  }

  #getServer(): URL {
    const { server } = this.agent.options;
    if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
    return server;
  }

  #resolveApiUrl(text: string): URL {
    const url = this.#resolveServerUrl(text);
    const allowed = UPDATE_ROUTES.map(
      (route) => resolveServerPath(this.#getServer(), `/api/updateservice/v1/${route}`).pathname,
    );
    if (!allowed.includes(url.pathname)) throw createDeniedFailure(url.pathname);
    return url;
  }

  async #openPackage(text: string, headers: Readonly<Record<string, string>>): Promise<object> {
    const url = this.#resolveServerUrl(text);
    const path = url.pathname.slice(resolveServerPath(this.#getServer(), '').pathname.replace(/\/$/, '').length);
    const { product } = this.known;
    if (!isPackageUrl(path) || url.search !== '') throw createDeniedFailure(path);
    if (product !== null && !path.startsWith(`/releases/${product}/`)) throw createDeniedFailure(path);
    if (this.#packages.size >= MAX_OPEN_RESPONSES) throw createDeniedFailure('one more package');
    const { range } = headers;
    const rangeHeader: Record<string, string> =
      typeof range === 'string' && /^bytes=\d{1,16}-$/.test(range) ? { range } : {};
    const answer = await this.agent.network.openPackage(url, { 'accept-encoding': 'identity', ...rangeHeader });
    const handle = ++this.#last;
    this.#packages.set(handle, { answer, content: answer.content[Symbol.asyncIterator]() });
    const { status, refused: why, headers: answered } = answer;
    return { handle, status, refused: why, headers: { 'content-range': answered['content-range'] } };
  }

  async #readChunk(handle: number): Promise<Buffer | null> {
    const next = await this.#packages.get(handle)?.content.next();
    return next === undefined || next.done === true ? null : next.value;
  }

  async #dropResponse(handle: number): Promise<void> {
    const found = this.#packages.get(handle);
    this.#packages.delete(handle);
    await found?.answer.drop();
  }

  async #login(): Promise<boolean> {
    const { get, post } = SETUP_ROUTES[this.agent.options.action];
    if (get.length + post.length === 0) throw createDeniedFailure('a login');
    this.#session = this.known.account ? await this.agent.network.login(this.#getServer()) : null;
    return this.#session !== null;
  }

  #getSetupApi(verb: 'get' | 'post', route: string): SetupApi {
    if (this.#session === null || !SETUP_ROUTES[this.agent.options.action][verb].includes(route))
      throw createDeniedFailure(route);
    return this.#session;
  }

  /**
   * A token is limited to root's project, and replaces another machine's only if root could have
   * confirmed that.
   */
  #validateContent(route: string, content: object): void {
    const { options } = this.agent;
    const project = 'project' in content ? content.project : null;
    if (route === 'token' && options.project === null)
      throw new AgentFailure(
        'usage',
        '--project is missing: root must pass the project of a token in a directory of another user',
      );
    if (project !== null && project !== options.project) throw createDeniedFailure('another project');
    const replaces = 'replace' in content && content.replace !== false;
    if (replaces && !options.replace && !isInteractive(options)) throw createDeniedFailure('--replace');
  }

  #resolveServerUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.origin !== this.#getServer().origin) throw createDeniedFailure(text);
    return url;
  }

  #capBytes(bytes: number): number {
    return Math.min(Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0, MAX_RESPONSE_BYTES);
  }
}

const createDeniedFailure = (what: string): AgentFailure =>
  new AgentFailure('error', `the root agent does not perform ${what} for the agent of the owner`);
