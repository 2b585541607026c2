/** The result of a probe run, and what it means for the monitor. Pure. */
import type { Observation } from '../../../ports/domain/watchdog.js';
import type { ServerCertificate } from '../../../ports/outbound.js';
import { DAY_MS } from '../../../lib/time.js';
import type { Probe } from './probe.js';

/** The result of one probe run. */
export interface ProbeResult {
  ok: boolean;
  /** Not supported on this system: nothing was sent. */
  unsupported?: boolean;
  /** The policy forbids the address: nothing was sent, and nothing is known of the target. */
  blocked?: boolean;
  /** What went right or wrong, as one sentence without its full stop. */
  message: string;
  /** Time until the response, or null without one. */
  response_ms: number | null;
  certificate: ServerCertificate | null;
  /** Of an HTTP answer. */
  status: number | null;
  /** Addresses that redirects led to, in order. */
  redirects: string[];
  /** The beginning of an HTTP answer, or the records of a name. */
  excerpt: string | null;
  /** Everything that was read came from globally reachable addresses, or names them. */
  public: boolean;
  /** The message without what was read, where it quotes that. */
  bare_message?: string;
}

/** How much of an answer its reader may see: all of it, that of public addresses alone, or nothing. */
export type ResultVisibility = 'all' | 'public' | 'none';

/** Removes what the reader may not see: a probe runs inside the network, its reader may be outside. */
export function toVisibleResult(seen: ProbeResult, sight: ResultVisibility): ProbeResult {
  if (sight === 'all' || (sight === 'public' && seen.public)) return seen;
  if (seen.public) return { ...seen, excerpt: null };
  const certificate = seen.certificate && { ...seen.certificate, subject: '', issuer: '' };
  return { ...seen, excerpt: null, message: seen.bare_message ?? seen.message, redirects: [], certificate };
}

/** As a probe that is inverted sees it: an answer is the failure, and its absence as it should be. */
export function invertResult(seen: ProbeResult): ProbeResult {
  if (seen.unsupported === true || seen.blocked === true) return seen;
  const says = (text: string): string => (seen.ok ? `It answers, and should not: ${text}` : `As it should be: ${text}`);
  return {
    ...seen,
    ok: !seen.ok,
    message: says(seen.message),
    ...(seen.bare_message !== undefined && { bare_message: says(seen.bare_message) }),
  };
}

export const EMPTY_RESULT: Omit<ProbeResult, 'ok' | 'message'> = {
  response_ms: null,
  certificate: null,
  status: null,
  redirects: [],
  excerpt: null,
  public: false,
};

/** Whole days; negative: it has expired. */
export const getDaysLeft = ({ valid_until }: ServerCertificate, now: number): number =>
  Math.floor((Date.parse(valid_until) - now) / DAY_MS);

/** In words: `expires in 6 days`. */
export function formatExpiry(days: number): string {
  // Whole days are counted downwards: one that ended an hour ago has -1.
  if (days === -1) return 'expired less than a day ago';
  if (days < 0) return `expired ${days === -2 ? 'a day' : `${-days - 1} days`} ago`;
  return days === 0 ? 'expires within a day' : `expires in ${days === 1 ? 'a day' : `${days} days`}`;
}

/**
 * Builds the observation for the watchdog.
 * @param failures attempts that failed, this one included; 0: it went well
 */
export function toObservation(
  source: string,
  probe: Probe,
  seen: ProbeResult,
  failures: number,
  now: number,
): Observation {
  const tries = probe.retries + 1;
  const counts = failures >= tries;
  const left = seen.certificate === null ? null : getDaysLeft(seen.certificate, now);
  const warned = 'cert_days_warning' in probe ? probe.cert_days_warning : 0;
  // Where any certificate will do, its end is no failure.
  const isJudged = left !== null && !('insecure' in probe && probe.insecure);
  const message = failures === 0 || counts ? seen.message : `${seen.message} (try ${failures} of ${tries})`;
  return {
    source,
    status: failures === 0 ? 'ok' : counts ? 'error' : 'warning',
    interval: probe.interval_seconds,
    message,
    checks: {
      answer: { ok: seen.ok, message: seen.message },
      ...(isJudged && { certificate: { ok: left >= warned, message: `The certificate ${formatExpiry(left)}` } }),
    },
    metrics: {
      ...(seen.response_ms !== null && { response_ms: seen.response_ms }),
      ...(left !== null && { cert_days: left }),
    },
    ...(isJudged &&
      seen.certificate !== null && {
        certificate: { days_left: left, expires_at: seen.certificate.valid_until, warn_days: warned },
      }),
  };
}
