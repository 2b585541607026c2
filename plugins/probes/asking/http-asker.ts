/**
 * One asking by HTTP: redirects are followed here, because each of their addresses is judged anew. What came from a
 * public machine never leads into the own network, whatever the policy allows otherwise, and headers with secrets go to
 * the host that they were given for and to no other.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { OutboundError, type EgressPolicy, type OutboundResponse } from '../../../ports/outbound.js';
import { DEPS, type ProbesDeps } from '../deps.js';
import { isJsonPath, valueAt } from '../model/json-path.js';
import type { HttpProbe, OpenProbe } from '../model/probe.js';
import { NOTHING, type ProbeResult } from '../model/seen.js';
import { inStatusRange } from '../model/status-range.js';

/** Of an answer that is read: what comes after it is nobody's. JSON of this size is parsed in some milliseconds. */
const MAX_BODY = 256 * 1024;
/** Where nothing in the answer is looked for. */
const MAX_EXCERPT = 4_096;
const SHOWN = 60;
const REDIRECT = new Set([301, 302, 303, 307, 308]);

type AskedHttp = Extract<OpenProbe, { kind: 'http' }>;

@injectable()
export class HttpAsker {
  constructor(@inject(DEPS) private readonly deps: Pick<ProbesDeps, 'outbound' | 'policy' | 'version' | 'clock'>) {}

  /** @throws OutboundError */
  async ask(probe: AskedHttp): Promise<ProbeResult> {
    const { clock, policy } = this.deps;
    const started = clock.monotonic();
    const followed: string[] = [];
    let url = probe.url;
    let allowed: EgressPolicy = policy;
    let open = true;
    for (;;) {
      const left = probe.timeout_ms - (clock.monotonic() - started);
      if (left <= 0) throw new OutboundError('timeout', `no complete answer within ${probe.timeout_ms} ms`);
      const response = await this.#request(probe, url, allowed, Math.ceil(left));
      open &&= response.public;
      const next = this.#redirect(probe, url, response);
      if (next === null || followed.length >= probe.redirects) {
        const ms = Math.round(clock.monotonic() - started);
        return { ...this.#judged(probe, response, ms), public: open, redirects: followed };
      }
      followed.push(next);
      url = next;
      if (response.public) allowed = { mode: 'public-only', allow: policy.allow };
    }
  }

  #request(probe: AskedHttp, url: string, policy: EgressPolicy, timeoutMs: number): Promise<OutboundResponse> {
    const first = url === probe.url;
    const same = new URL(url).origin === new URL(probe.url).origin;
    return this.deps.outbound.request({
      method: first ? probe.method : probe.method === 'HEAD' ? 'HEAD' : 'GET',
      url,
      headers: { 'user-agent': `AOS/${this.deps.version}`, accept: '*/*', ...(same && probe.headers) },
      connectTimeoutMs: timeoutMs,
      timeoutMs,
      maxBytes: probe.contains === null && probe.json_path === null ? MAX_EXCERPT : MAX_BODY,
      certificate: true,
      policy,
    });
  }

  /** Where it leads, if it is to be followed; null: nowhere. @throws OutboundError */
  #redirect({ redirects }: HttpProbe, from: string, { status, headers }: OutboundResponse): string | null {
    const to = headers['location'];
    if (redirects === 0 || !REDIRECT.has(status) || to === undefined) return null;
    if (!URL.canParse(to, from)) throw new OutboundError('invalid_url', 'the redirect leads to no address');
    return new URL(to, from).href;
  }

  #judged(probe: AskedHttp, response: OutboundResponse, ms: number): Omit<ProbeResult, 'redirects' | 'public'> {
    const { status, body, certificate = null, truncated } = response;
    const text = body.toString('utf8');
    const seen = { ...NOTHING, response_ms: ms, certificate, status, excerpt: text.slice(0, MAX_EXCERPT) || null };
    const found = faultOfStatus(probe, status) ?? faultOfText(probe, text, truncated);
    const fault = found === null ? faultOfJson(probe, text, truncated) : { says: found };
    if (fault === null) return { ...seen, ok: true, message: `HTTP ${status} in ${ms} ms` };
    return { ...seen, ok: false, message: fault.says, ...(fault.bare !== undefined && { bare_message: fault.bare }) };
  }
}

const faultOfStatus = ({ expected_status }: HttpProbe, status: number): string | null =>
  inStatusRange(status, expected_status) ? null : `HTTP ${status}, where ${expected_status} was expected`;

const within = (truncated: boolean): string => (truncated ? ` in its first ${MAX_BODY / 1024} KiB` : '');

function faultOfText({ contains }: HttpProbe, text: string, truncated: boolean): string | null {
  if (contains === null || text.includes(contains)) return null;
  return `The answer does not hold ${short(contains)}${within(truncated)}`;
}

/** What is wrong, and the same without the value that was found. */
interface JsonFault {
  says: string;
  bare?: string;
}

function faultOfJson({ json_path, json_value }: HttpProbe, text: string, truncated: boolean): JsonFault | null {
  if (json_path === null || !isJsonPath(json_path)) return null;
  if (truncated) return { says: `The answer is longer than ${MAX_BODY / 1024} KiB, so its JSON is not read` };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { says: 'The answer is no JSON' };
  }
  const value = valueAt(json, json_path);
  if (value === undefined) return { says: `The answer has no ${json_path}` };
  const is = typeof value === 'string' ? value : JSON.stringify(value);
  if (json_value === null || is === json_value) return null;
  const expected = `where ${short(json_value)} was expected`;
  return { says: `${json_path} is ${short(is)}, ${expected}`, bare: `${json_path} is another value, ${expected}` };
}

const short = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
