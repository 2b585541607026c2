/**
 * Handles requests of the child, and denies every server, project or service that root did not
 * name.
 */
import { AgentFailure } from '../exit.js';
import type { Action } from '../options/table.js';
import { isInteractive } from '../prompts.js';
import { isPackageUrl } from '../../../lib/formats/platform.js';
import { below } from '../options/address.js';
import type { Package } from '../net/network.js';
import type { SetupPath } from '../net/session.js';
import type { Agent } from '../update/installation.js';
import type { Wish } from './messages.js';

const MOST_BYTES = 256 * 1024 * 1024;
const QUESTIONS = ['pubkey', 'check', 'freshness'];
const MOST_OPEN = 4;

/** Setup routes by action: an update needs none, so it gets none. */
const ROUTES: Readonly<Record<Action, { get: readonly string[]; post: readonly string[] }>> = {
  update: { get: [], post: [] },
  recover: { get: [], post: [] },
  schedule: { get: [], post: [] },
  install: { get: ['catalog'], post: ['token', 'agent'] },
  configure: { get: [], post: ['token'] },
  monitor: { get: [], post: ['agent'] },
};

export interface Known {
  /**
   * Product whose packages may be opened: root's project, else the one that the tree claimed. Null
   * for any.
   */
  product: string | null;
  /** True when an account exists. No prompt is shown once the child shares the terminal. */
  account: boolean;
}

export class Served {
  readonly #packages = new Map<number, { answer: Package; content: AsyncIterator<Buffer> }>();
  #last = 0;
  #session: SetupPath | null = null;

  constructor(
    private readonly agent: Agent,
    private readonly known: Known,
  ) {}

  async answer(wish: Wish): Promise<unknown> {
    const { network } = this.agent;
    switch (wish.call) {
      case 'control':
        return this.#control(wish.verb);
      case 'ask':
        return network.ask(this.#question(wish.url), this.#most(wish.most));
      case 'open':
        return this.#open(wish.url, wish.headers);
      case 'read':
        return this.#read(wish.handle);
      case 'drop':
        return this.#drop(wish.handle);
      case 'login':
        return this.#login();
      case 'get':
        return this.#setup('get', wish.route).get(wish.route, wish.query, this.#most(wish.most));
      case 'post':
        this.#judgeContent(wish.route, wish.content);
        return this.#setup('post', wish.route).post(wish.route, wish.content, this.#most(wish.most));
      default:
        throw refused('this');
    }
  }

  async #control(verb: string): Promise<void> {
    const { restart, service } = this.agent.options;
    if (!restart || service === null) throw new AgentFailure('error', 'no service is named');
    if (verb !== 'stop' && verb !== 'start') throw refused('this');
    await this.agent.control(verb, service);
  }

  #server(): URL {
    const { server } = this.agent.options;
    if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
    return server;
  }

  #question(text: string): URL {
    const url = this.#inServer(text);
    const allowed = QUESTIONS.map((route) => below(this.#server(), `/api/updateservice/v1/${route}`).pathname);
    if (!allowed.includes(url.pathname)) throw refused(url.pathname);
    return url;
  }

  async #open(text: string, headers: Readonly<Record<string, string>>): Promise<object> {
    const url = this.#inServer(text);
    const path = url.pathname.slice(below(this.#server(), '').pathname.replace(/\/$/, '').length);
    const { product } = this.known;
    if (!isPackageUrl(path) || url.search !== '') throw refused(path);
    if (product !== null && !path.startsWith(`/releases/${product}/`)) throw refused(path);
    if (this.#packages.size >= MOST_OPEN) throw refused('one more package');
    const { range } = headers;
    const asked: Record<string, string> = typeof range === 'string' && /^bytes=\d{1,16}-$/.test(range) ? { range } : {};
    const answer = await this.agent.network.open(url, { 'accept-encoding': 'identity', ...asked });
    const handle = ++this.#last;
    this.#packages.set(handle, { answer, content: answer.content[Symbol.asyncIterator]() });
    const { status, refused: why, headers: answered } = answer;
    return { handle, status, refused: why, headers: { 'content-range': answered['content-range'] } };
  }

  async #read(handle: number): Promise<Buffer | null> {
    const next = await this.#packages.get(handle)?.content.next();
    return next === undefined || next.done === true ? null : next.value;
  }

  async #drop(handle: number): Promise<void> {
    const found = this.#packages.get(handle);
    this.#packages.delete(handle);
    await found?.answer.drop();
  }

  async #login(): Promise<boolean> {
    const { get, post } = ROUTES[this.agent.options.action];
    if (get.length + post.length === 0) throw refused('a login');
    this.#session = this.known.account ? await this.agent.network.login(this.#server()) : null;
    return this.#session !== null;
  }

  #setup(verb: 'get' | 'post', route: string): SetupPath {
    if (this.#session === null || !ROUTES[this.agent.options.action][verb].includes(route)) throw refused(route);
    return this.#session;
  }

  /**
   * A token is limited to root's project, and replaces another machine's only if root could have
   * confirmed that.
   */
  #judgeContent(route: string, content: object): void {
    const { options } = this.agent;
    const project = 'project' in content ? content.project : null;
    if (route === 'token' && options.project === null)
      throw new AgentFailure(
        'usage',
        '--project is missing: in another user’s tree root says for which project a token is',
      );
    if (project !== null && project !== options.project) throw refused('another project');
    const replaces = 'replace' in content && content.replace !== false;
    if (replaces && !options.replace && !isInteractive(options)) throw refused('--replace');
  }

  #inServer(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.origin !== this.#server().origin) throw refused(text);
    return url;
  }

  #most(bytes: number): number {
    return Math.min(Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0, MOST_BYTES);
  }
}

const refused = (what: string): AgentFailure =>
  new AgentFailure('error', `root’s agent does not do ${what} for the owner’s`);
