/**
 * A black-box client for the conformance suites: every header counts, redirects are not followed,
 * bytes may be wrong.
 */
import { expect } from 'chai';
import { connect } from 'node:net';
import { ADMIN_ACCOUNT, type TestService } from '../support/service.js';

export interface Wire {
  status: number;
  text: string;
  json: Record<string, unknown>;
  headers: Headers;
}

export interface Ask {
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

export async function ask(service: TestService, method: string, path: string, given: Ask = {}): Promise<Wire> {
  const { token, body, raw, headers } = given;
  const response = await fetch(service.url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined && raw === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: raw !== undefined ? Buffer.from(raw) : body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json') && text !== '';
  return {
    status: response.status,
    text,
    json: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
    headers: response.headers,
  };
}

export const codeOf = (answer: Pick<Wire, 'json'>): unknown =>
  (answer.json['error'] as { code?: unknown } | undefined)?.code;

/** The error envelope of contract 00, envelope. */
export function expectError(answer: Wire, status: number, code: string): void {
  expect(`${answer.status} ${String(codeOf(answer))}`, answer.text).to.equal(`${status} ${code}`);
  expect(answer.json).to.have.all.keys('status', 'error');
  expect(answer.json['status']).to.equal('error');
  const error = answer.json['error'] as Record<string, unknown>;
  expect(error['message']).to.be.a('string').and.not.equal('');
  expect(error['request_id']).to.equal(answer.headers.get('x-request-id'));
  if (code === 'validation_failed') expect(error['fields']).to.be.an('object').and.not.deep.equal({});
}

/**
 * Writes these bytes and answers everything that comes back until the other side closes, or
 * `enough` says so.
 */
export function bytes(service: TestService, chunks: readonly string[], enough = /\r\n\r\n[^]*\}$/): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = connect(Number(port), hostname, () => {
      for (const chunk of chunks) socket.write(chunk);
    });
    socket.on('data', (data) => {
      heard += data.toString('utf8');
      if (enough.test(heard)) socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
  });
}

/** A browser as far as forms go: it keeps cookies and finds the form token of a page. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** Attributes of the last `Set-Cookie` of each name. */
  readonly attributes = new Map<string, string>();
  constructor(private readonly service: TestService) {}

  async open(method: string, path: string, form?: Record<string, string>, headers: Record<string, string> = {}) {
    const answer = await ask(this.service, method, path, {
      ...(form && { raw: new URLSearchParams(form).toString() }),
      headers: {
        accept: 'text/html',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
    });
    for (const line of answer.headers.getSetCookie()) this.#take(line);
    return answer;
  }

  async csrf(path: string): Promise<string> {
    const { text } = await this.open('GET', path);
    return /name="csrf_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  }

  async login(username: string, password: string): Promise<Wire> {
    return this.open('POST', '/login', { csrf_token: await this.csrf('/login'), username, password });
  }

  #take(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    this.attributes.set(name, attributes.join('; '));
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(at + 1));
  }
}

export const PASSWORD = 'violet-hammock-1999-x';

/**
 * Accounts with `PASSWORD`, made by the administrator on the page for it. @param accounts name and
 * role
 */
export async function createUsers(service: TestService, accounts: readonly [string, string][]): Promise<void> {
  const admin = new Browser(service);
  await admin.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
  const csrf_token = await admin.csrf('/account');
  for (const [username, role] of accounts) {
    const made = await admin.open('POST', '/users', { csrf_token, username, role, password: PASSWORD });
    expect(made.status, made.text).to.equal(303);
  }
}
