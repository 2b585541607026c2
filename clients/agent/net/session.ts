/**
 * Session of the setup service (contract 60): its token is valid for 30 minutes, stays in memory
 * and grants no package access.
 */
import { AgentFailure } from '../exit.js';
import { resolveServerPath } from '../options/address.js';
import { getErrorText, type JsonAnswer, type HttpClient } from './http.js';

const API_PREFIX = '/api/setup/v1';
const MAX_LOGIN_BYTES = 64 * 1024;

export interface AccountPassword {
  username: string;
  password: string;
}

export class AlreadyExistsFailure extends AgentFailure {
  override name = 'Taken';

  constructor(message: string) {
    super('error', message);
  }
}

export interface SetupApi {
  get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>>;
  /** @throws AlreadyExistsFailure */
  post(route: string, content: object, most: number): Promise<Record<string, unknown>>;
}

export class SetupSession implements SetupApi {
  private constructor(
    private readonly http: HttpClient,
    private readonly server: URL,
    private readonly token: string,
  ) {}

  /** @throws AgentFailure unauthorized when the account is rejected */
  static async login(http: HttpClient, server: URL, { username, password }: AccountPassword): Promise<SetupSession> {
    const url = resolveServerPath(server, `${API_PREFIX}/login`);
    const answer = await http.postJson(url, { username, password }, MAX_LOGIN_BYTES);
    const serverMessage = getErrorText(answer.body) ?? '';
    if ((answer.status === 401 || answer.status === 403) && answer.body !== null)
      throw new AgentFailure(
        'unauthorized',
        `access was denied for account ${username}: ${serverMessage} Use an account with the role installer or admin.`,
      );
    const { token } = getResponseBody(answer, url);
    if (typeof token !== 'string' || !/^[!-~]{1,500}$/.test(token))
      throw new AgentFailure('unverified', 'server response: token is not valid');
    return new SetupSession(http, server, token);
  }

  async get(route: string, query: Record<string, string>, most: number): Promise<Record<string, unknown>> {
    const url = resolveServerPath(this.server, `${API_PREFIX}/${route}`);
    url.search = new URLSearchParams(query).toString();
    return getResponseBody(await this.http.getJson(url, most, this.token), url);
  }

  async post(route: string, content: object, most: number): Promise<Record<string, unknown>> {
    const url = resolveServerPath(this.server, `${API_PREFIX}/${route}`);
    return getResponseBody(await this.http.postJson(url, content, most, this.token), url);
  }
}

function getResponseBody({ status, body }: JsonAnswer, url: URL): Record<string, unknown> {
  const done = status >= 200 && status < 300;
  if (body === null || body.status !== (done ? 'success' : 'error'))
    throw new AgentFailure(
      'transient',
      `${url.origin} answered ${url.pathname} with ${status}, but not as an AOS service`,
    );
  if (done) return body;
  const text = [getErrorText(body) ?? `${url.pathname} answered ${status}`, ...listErrorFields(body.error)].join('; ');
  if (status === 409) throw new AlreadyExistsFailure(text);
  throw new AgentFailure(status === 401 ? 'unauthorized' : 'error', text);
}

function listErrorFields(error: unknown): string[] {
  if (typeof error !== 'object' || error === null || !('fields' in error)) return [];
  const { fields } = error;
  return typeof fields === 'object' && fields !== null
    ? Object.entries(fields).map(([name, why]) => `${name} ${String(why)}`)
    : [];
}
