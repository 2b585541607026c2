/** What the parent does for the child, and what it refuses: nothing goes to a server, a project or a service that root did not name. */
import { Failure } from '../exit.js';
import { isPackageUrl } from '../../../formats/platform.js';
import { below } from '../net/address.js';
import type { Package } from '../net/network.js';
import type { SetupPath } from '../setup/session.js';
import type { Agent } from '../update/installation.js';
import type { Wish } from './messages.js';

const MOST_BYTES = 256 * 1024 * 1024;
const QUESTIONS = ['pubkey', 'check', 'freshness'];
const MOST_OPEN = 4;

export class Served {
  readonly #packages = new Map<number, { answer: Package; content: AsyncIterator<Buffer> }>();
  #last = 0;
  #session: SetupPath | null = null;

  constructor(private readonly agent: Agent) {}

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
        this.#session = await network.login(this.#server());
        return this.#session !== null;
      case 'get':
        return this.#setup(wish.route, ['catalog']).get(wish.route, wish.query, this.#most(wish.most));
      case 'post':
        this.#judgeProject(wish.content);
        return this.#setup(wish.route, ['token', 'agent']).post(wish.route, wish.content, this.#most(wish.most));
      default:
        throw refused('this');
    }
  }

  async #control(verb: string): Promise<void> {
    const { restart, service } = this.agent.options;
    if (!restart || service === null) throw new Failure('error', 'no service is named');
    if (verb !== 'stop' && verb !== 'start') throw refused('this');
    await this.agent.control(verb, service);
  }

  #server(): URL {
    const { server } = this.agent.options;
    if (server === null) throw new Failure('usage', '--server is missing: the address of the service');
    return server;
  }

  /** Below the server's own address. */
  #question(text: string): URL {
    const url = this.#inServer(text);
    const allowed = QUESTIONS.map((route) => below(this.#server(), `/api/updateservice/v1/${route}`).pathname);
    if (!allowed.includes(url.pathname)) throw refused(url.pathname);
    return url;
  }

  /** Of the project that root named, where he named one. */
  async #open(text: string, headers: Readonly<Record<string, string>>): Promise<object> {
    const url = this.#inServer(text);
    const path = url.pathname.slice(below(this.#server(), '').pathname.replace(/\/$/, '').length);
    const { project } = this.agent.options;
    if (!isPackageUrl(path) || url.search !== '') throw refused(path);
    if (project !== null && !path.startsWith(`/releases/${project}/`)) throw refused(path);
    if (this.#packages.size >= MOST_OPEN) throw refused('one more package');
    const { range } = headers;
    const asked: Record<string, string> = typeof range === 'string' && /^bytes=\d{1,16}-$/.test(range) ? { range } : {};
    const answer = await this.agent.network.open(url, { 'accept-encoding': 'identity', ...asked });
    const handle = ++this.#last;
    this.#packages.set(handle, { answer, content: answer.content[Symbol.asyncIterator]() });
    const { status, refused: why, headers: answered } = answer;
    return { handle, status, refused: why, headers: { 'content-range': answered['content-range'] } };
  }

  /** Null: that was all. */
  async #read(handle: number): Promise<Buffer | null> {
    const next = await this.#packages.get(handle)?.content.next();
    return next === undefined || next.done === true ? null : next.value;
  }

  async #drop(handle: number): Promise<void> {
    const found = this.#packages.get(handle);
    this.#packages.delete(handle);
    await found?.answer.drop();
  }

  #setup(route: string, allowed: readonly string[]): SetupPath {
    if (this.#session === null || !allowed.includes(route)) throw refused(route);
    return this.#session;
  }

  #judgeProject(content: object): void {
    const { project } = this.agent.options;
    if (project !== null && 'project' in content && content.project !== null && content.project !== project)
      throw refused('another project');
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

const refused = (what: string): Failure => new Failure('error', `root’s agent does not do ${what} for the owner’s`);
