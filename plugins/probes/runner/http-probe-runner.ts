/**
 * Redirects are followed here, because the egress policy is checked for each address; one from a
 * public address never leads into the internal network. Headers and body are only sent to their
 * configured origin.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { parseJsonText } from '../../../lib/json/parse-json-text.js';
import { decodeText } from '../../../lib/text/decode-text.js';
import {
  OutboundError,
  type EgressPolicy,
  type OutboundMethod,
  type OutboundResponse,
  type PartialBody,
  type Outbound,
} from '../../../ports/outbound.js';
import { DEPS } from '../deps.js';
import { isJsonPath, getValueAt } from '../model/json-path.js';
import type { HttpProbe, ProbeWithHeaders } from '../model/probe.js';
import { EMPTY_RESULT, type ProbeResult } from '../model/probe-result.js';
import { isInStatusRange } from '../model/status-range.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_BODY_BYTES = 256 * 1024;
const MAX_EXCERPT_CHARACTERS = 4_096;
const EXCERPT_TIMEOUT_MS = 1_000;
const MAX_SHOWN_CHARACTERS = 60;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const METHOD_PRESERVING_STATUSES = new Set([307, 308]);

type HttpProbeWithHeaders = Extract<ProbeWithHeaders, { kind: 'http' }>;

interface RequestStep {
  url: string;
  method: OutboundMethod;
  policy: EgressPolicy;
}

@injectable()
export class HttpProbeRunner {
  constructor(
    @inject(DEPS.outbound) private readonly outbound: Pick<Outbound, 'request' | 'checkUrl'>,
    @inject(DEPS.policy) private readonly policy: EgressPolicy,
    @inject(DEPS.version) private readonly version: string,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /** @throws OutboundError */
  async run(probe: HttpProbeWithHeaders): Promise<ProbeResult> {
    const { clock, policy } = this;
    const started = clock.monotonic();
    const followed: string[] = [];
    // Its list of public suffixes is loaded by the first probe.
    const { CookieJar } = await import('tough-cookie');
    const jar = new CookieJar(undefined, { rejectPublicSuffixes: false });
    const sentRequests = new Set<string>();
    let step: RequestStep = { url: probe.url, method: probe.method, policy };
    let open = true;
    for (;;) {
      const left = probe.timeout_ms - (clock.monotonic() - started);
      if (left <= 0) throw new OutboundError('timeout', `no complete response within ${probe.timeout_ms} ms`);
      const cookies = await jar.getCookieString(step.url);
      const response = await this.#request(probe, step, cookies, Math.ceil(left));
      open &&= response.public;
      for (const cookie of response.cookies ?? []) await jar.setCookie(cookie, step.url, { ignoreError: true });
      const next = getNextUrl(probe, step.url, response);
      const ms = Math.max(0, Math.round(clock.monotonic() - started) - (response.waited_ms ?? 0));
      if (next === null) return { ...checkResponse(probe, response, ms), public: open, redirects: followed };
      sentRequests.add(`${step.method} ${step.url} ${cookies}`);
      const method = getNextMethod(step.method, response.status);
      const isLoop = sentRequests.has(`${step.method} ${next} ${await jar.getCookieString(next)}`);
      const message =
        followed.length >= probe.redirects
          ? `More than ${probe.redirects} redirect${probe.redirects === 1 ? '' : 's'}${isLoop ? ', in a loop' : ''}`
          : shouldSendBody(probe, method) && !isOwnOrigin(probe, next)
            ? `HTTP ${response.status} redirects to another origin; the body was not sent`
            : null;
      if (message !== null) {
        const seen = checkResponse(probe, response, ms);
        return { ...seen, ...(!seen.ok && { message }), public: open, redirects: followed };
      }
      followed.push(next);
      step = {
        url: next,
        method,
        policy: response.public ? { mode: 'public-only', allow: policy.allow } : step.policy,
      };
    }
  }

  #request(
    probe: HttpProbeWithHeaders,
    step: RequestStep,
    cookies: string,
    timeoutMs: number,
  ): Promise<OutboundResponse> {
    const { url, method, policy } = step;
    const { ca_pem, insecure, resolver } = probe;
    const { host, cookie, ...headers } = isOwnOrigin(probe, url) ? toLowerCaseNames(probe.headers ?? {}) : {};
    const sent = [cookie, cookies].filter((one) => one !== undefined && one !== '').join('; ');
    const body = shouldSendBody(probe, method) ? probe.body : null;
    return this.outbound.request({
      method,
      url,
      headers: {
        'user-agent': `AOS/${this.version}`,
        accept: '*/*',
        ...(body !== null && { 'content-type': isJson(body) ? 'application/json' : 'text/plain; charset=utf-8' }),
        ...headers,
        ...(sent !== '' && { cookie: sent }),
      },
      ...(body !== null && { body }),
      ...(host !== undefined && { host }),
      ...(resolver !== null && { resolver }),
      tls: { insecure, ...(ca_pem !== null && { ca: ca_pem }) },
      connectTimeoutMs: timeoutMs,
      timeoutMs,
      maxBytes: shouldReadText(probe) ? MAX_BODY_BYTES : MAX_EXCERPT_CHARACTERS,
      decode: true,
      partial: shouldReadText(probe)
        ? { waitMs: Infinity, ...getStopCondition(probe) }
        : { waitMs: EXCERPT_TIMEOUT_MS },
      certificate: true,
      policy,
    });
  }
}

const isOwnOrigin = (probe: HttpProbe, url: string): boolean => new URL(url).origin === new URL(probe.url).origin;

const shouldSendBody = ({ body, method: first }: HttpProbe, method: OutboundMethod): boolean =>
  body !== null && method === first;

const shouldReadText = ({ contains, keyword_absent, json_path }: HttpProbe): boolean =>
  contains !== null || keyword_absent !== null || json_path !== null;

function getStopCondition({ contains, keyword_absent, json_path }: HttpProbe): Pick<PartialBody, 'until'> {
  if (contains === null || keyword_absent !== null || json_path !== null) return {};
  return { until: contains };
}

const toLowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const isJson = (text: string): boolean => parseJsonText(text) !== undefined;

/**
 * Returns null when none is followed.
 * @throws OutboundError
 */
function getNextUrl({ redirects }: HttpProbe, from: string, { status, headers }: OutboundResponse): string | null {
  const to = headers['location'];
  if (redirects === 0 || !REDIRECT_STATUSES.has(status) || to === undefined) return null;
  if (!URL.canParse(to, from)) throw new OutboundError('invalid_url', 'the redirect has no valid address');
  return new URL(to, from).href;
}

/** As in browsers: 303 becomes GET, 301 and 302 only for POST. */
function getNextMethod(method: OutboundMethod, status: number): OutboundMethod {
  if (METHOD_PRESERVING_STATUSES.has(status) || method === 'HEAD') return method;
  return status === 303 || method === 'POST' ? 'GET' : method;
}

function checkResponse(
  probe: HttpProbeWithHeaders,
  response: OutboundResponse,
  ms: number,
): Omit<ProbeResult, 'redirects' | 'public'> {
  const { status, body, certificate = null, undecodable = null } = response;
  const text = decodeText(body, response.headers['content-type']);
  const excerpt = undecodable === null ? text.slice(0, MAX_EXCERPT_CHARACTERS) || null : null;
  const seen = { ...EMPTY_RESULT, response_ms: ms, certificate, status, excerpt };
  const fault =
    toResponseFault(findStatusFault(probe, status)) ??
    toResponseFault(
      shouldReadText(probe) && undecodable !== null ? `Response cannot be decoded as ${truncate(undecodable)}` : null,
    ) ??
    toResponseFault(findTextFault(probe, text, response)) ??
    findJsonFault(probe, text, response);
  if (fault === null) return { ...seen, ok: true, message: `HTTP ${status} in ${ms} ms` };
  return { ...seen, ok: false, message: fault.says, ...(fault.bare !== undefined && { bare_message: fault.bare }) };
}

interface ResponseFault {
  says: string;
  bare?: string;
}

const toResponseFault = (says: string | null): ResponseFault | null => (says === null ? null : { says });

const findStatusFault = ({ expected_status }: HttpProbe, status: number): string | null =>
  isInStatusRange(status, expected_status) ? null : `HTTP ${status} (expected ${expected_status})`;

const formatReadLimit = ({ truncated, waited_ms }: OutboundResponse): string =>
  waited_ms !== undefined
    ? ' in the part received in time'
    : truncated
      ? ` in its first ${MAX_BODY_BYTES / 1024} KiB`
      : '';

function findTextFault(
  { contains, keyword_absent }: HttpProbe,
  text: string,
  response: OutboundResponse,
): string | null {
  if (contains !== null && !text.includes(contains))
    return `Response does not contain ${truncate(contains)}${formatReadLimit(response)}`;
  if (keyword_absent !== null && text.includes(keyword_absent)) return `Response contains ${truncate(keyword_absent)}`;
  return null;
}

function findJsonFault(
  { json_path, json_value }: HttpProbe,
  text: string,
  response: OutboundResponse,
): ResponseFault | null {
  if (json_path === null || !isJsonPath(json_path)) return null;
  if (response.truncated && response.waited_ms === undefined)
    return { says: `Response is longer than ${MAX_BODY_BYTES / 1024} KiB, so its JSON was not checked` };
  const json = parseJsonText(text);
  if (json === undefined) return { says: `Response is not JSON${formatReadLimit(response)}` };
  const value = getValueAt(json, json_path);
  if (value === undefined) return { says: `Response has no ${json_path}` };
  const is = typeof value === 'string' ? value : JSON.stringify(value);
  if (json_value === null || is === json_value) return null;
  const expected = `expected ${truncate(json_value)}`;
  return {
    says: `${json_path} is ${truncate(is)}, ${expected}`,
    bare: `${json_path} has a different value, ${expected}`,
  };
}

const truncate = (text: string): string =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
