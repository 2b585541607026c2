/**
 * Address and token come from options, environment or profile. The profile's token is only sent to
 * the profile's address.
 */
import { text } from 'node:stream/consumers';
import { readRemoteEnv, type RemoteEnv } from '../../../config/remote-env.js';
import { readConfiguredFile } from '../../../lib/files/trusted-file.js';
import { sendRequest } from '../../../lib/http/send-request.js';
import type { CommandCall, CommandSpec } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { UsageError } from '../usage.js';
import { loadProfile } from './profile.js';

const TIMEOUT_MS = 30_000;
const LOOPBACK_PATTERN = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export const CONNECTION_OPTIONS = {
  url: { type: 'string', value: 'address', summary: 'Address of the service', env: 'SVC_URL' },
  'allow-http': { type: 'boolean', summary: 'Send the token to an address without TLS' },
} as const satisfies CommandSpec['options'];

export const PAGE_OPTIONS = {
  limit: { type: 'string', value: '1–200', summary: 'How many', default: '50' },
  cursor: { type: 'string', value: 'cursor', summary: 'Start after the previous page (next_cursor of --json)' },
} as const satisfies CommandSpec['options'];

export const getTexts = (
  { options }: Pick<CommandCall, 'options'>,
  names: readonly string[],
): Record<string, string | undefined> =>
  Object.fromEntries(
    names.map((name) => {
      const value = options[name];
      return [name, typeof value === 'string' ? value : undefined];
    }),
  );

type Query = Readonly<Record<string, string | number | undefined>>;

/** @throws UsageError for an invalid service address */
export function parseServiceUrl(given: string, allowHttp: boolean): URL {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${given}" is not a valid service address; use the form https://aos.example.com`, null);
  if (url.protocol === 'http:' && !LOOPBACK_PATTERN.test(url.hostname) && !allowHttp)
    throw new UsageError(`${given} does not use TLS; use https://, or add --allow-http`, null);
  return url;
}

async function loadToken({ token, tokenFile }: RemoteEnv): Promise<string | null> {
  if (token !== null || tokenFile === null) return token;
  return (await readConfiguredFile(tokenFile)).trim();
}

export class ServiceClient {
  private constructor(
    readonly url: URL,
    private readonly token: string,
  ) {}

  /** @throws UsageError without an address or token */
  static async open({ options }: Pick<CommandCall, 'options'>): Promise<ServiceClient> {
    const env = readRemoteEnv();
    const named = options['url'] ?? env.url;
    const token = await loadToken(env);
    // A broken profile does not matter if it is not used.
    const profile = typeof named === 'string' && token !== null ? null : await loadProfile(env);
    const given = named ?? profile?.url;
    if (typeof given !== 'string')
      throw new UsageError('no service address; pass --url, set SVC_URL, or run "aos login"', null);
    const url = parseServiceUrl(given, options['allow-http'] === true || given === profile?.url);
    const own = profile !== null && new URL(profile.url).origin === url.origin ? profile.token : null;
    const secret = token ?? own;
    if (secret === null) throw new UsageError(`no token for ${url.origin}; set SVC_TOKEN, or run "aos login"`, null);
    return new ServiceClient(url, secret);
  }

  static withToken(url: URL, token: string): ServiceClient {
    return new ServiceClient(url, token);
  }

  /** @throws ServiceError with the service's error, Error when it is unreachable */
  async request<T>(
    method: string,
    path: string,
    { query = {}, body, timeoutMs = TIMEOUT_MS }: { query?: Query; body?: object; timeoutMs?: number } = {},
  ): Promise<T> {
    const target = new URL(path, this.url);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) target.searchParams.set(name, String(value));
    const response = await sendRequest(target, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      env: readRemoteEnv().proxies,
      responseTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
    }).catch((error: unknown) => {
      throw new Error(
        `${this.url.origin} cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    });
    const answer = parseAnswer(await text(response.body));
    const { status } = response;
    if (status < 300 && answer?.['status'] === 'success') return answer as T;
    const refusal = status < 300 ? null : parseError(answer?.['error']);
    if (refusal === null)
      throw new Error(
        `${this.url.origin} answered ${status}, but not as an AOS service; check whether another server or proxy uses this address`,
      );
    const { code, message, fields } = refusal;
    throw new ServiceError(code, message, { status, ...(fields !== undefined && { fields }) });
  }
}

interface ErrorBody {
  code: string;
  message: string;
  fields: Record<string, string> | undefined;
}

function parseError(error: unknown): ErrorBody | null {
  if (error === null || typeof error !== 'object') return null;
  const { code, message, fields } = error as Partial<Record<keyof ErrorBody, unknown>>;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  const texts = Object.entries(fields ?? {}).map(([name, problem]) => [name, String(problem)]);
  return {
    code,
    message,
    fields: texts.length === 0 ? undefined : (Object.fromEntries(texts) as Record<string, string>),
  };
}

function parseAnswer(body: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(body) as unknown;
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
