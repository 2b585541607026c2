/**
 * Session of the setup service (contract 60): its token is valid for 30 minutes, stays in memory
 * and grants no package access.
 */
import { AgentFailure } from '../exit.js';
import { below } from '../options/address.js';
import { errorText, type JsonAnswer, type Http } from './http.js';

const PREFIX = '/api/setup/v1';
const LOGIN_BYTES = 64 * 1024;

export interface AccountPassword {
  username: string;
  password: string;
}

export class Taken extends AgentFailure {
  override name = 'Taken';

  constructor(message: string) {
    super('error', message);
  }
}

export interface SetupPath {
  get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>>;
  /** @throws AlreadyExistsFailure */
  post(route: string, content: object, most: number): Promise<Record<string, unknown>>;
}

export class SetupSession implements SetupPath {
  private constructor(
    private readonly http: Http,
    private readonly server: URL,
    private readonly token: string,
  ) {}

  /** @throws AgentFailure unauthorized when the account is rejected */
  static async login(http: Http, server: URL, { username, password }: AccountPassword): Promise<SetupSession> {
    const url = below(server, `${PREFIX}/login`);
    const answer = await http.post(url, { username, password }, LOGIN_BYTES);
    const said = errorText(answer.body) ?? '';
    if ((answer.status === 401 || answer.status === 403) && answer.body !== null)
      throw new AgentFailure(
        'unauthorized',
        `the account ${username} was refused: ${said} Accounts with the role installer or admin have access.`,
      );
    const { token } = bodyOf(answer, url);
    if (typeof token !== 'string' || !/^[!-~]{1,500}$/.test(token))
      throw new AgentFailure('unverified', 'the server’s answer: token is no token');
    return new SetupSession(http, server, token);
  }

  async get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>> {
    const url = below(this.server, `${PREFIX}/${route}`);
    url.search = new URLSearchParams(query).toString();
    return bodyOf(await this.http.ask(url, most, this.token), url);
  }

  async post(route: string, content: object, most: number): Promise<Record<string, unknown>> {
    const url = below(this.server, `${PREFIX}/${route}`);
    return bodyOf(await this.http.post(url, content, most, this.token), url);
  }
}

function bodyOf({ status, body }: JsonAnswer, url: URL): Record<string, unknown> {
  const done = status >= 200 && status < 300;
  if (body === null || body.status !== (done ? 'success' : 'error'))
    throw new AgentFailure(
      'transient',
      `${url.origin} answers ${url.pathname} with ${status} and nothing of this service`,
    );
  if (done) return body;
  const text = [errorText(body) ?? `${url.pathname} answers ${status}`, ...fieldsOf(body.error)].join('; ');
  if (status === 409) throw new Taken(text);
  throw new AgentFailure(status === 401 ? 'unauthorized' : 'error', text);
}

function fieldsOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null || !('fields' in error)) return [];
  const { fields } = error;
  return typeof fields === 'object' && fields !== null
    ? Object.entries(fields).map(([name, why]) => `${name} ${String(why)}`)
    : [];
}
