import type { Observation } from '../../../ports/domain/watchdog.js';
import type { ServerCertificate } from '../../../ports/outbound.js';
import { DAY_MS } from '../../../lib/time.js';
import type { Probe } from './probe.js';

export interface ProbeResult {
  ok: boolean;
  unsupported?: boolean;
  /** Nothing was sent: the state of the target is unknown. */
  blocked?: boolean;
  /** One sentence without its full stop. */
  message: string;
  /** In ms, or null without a response. */
  response_ms: number | null;
  certificate: ServerCertificate | null;
  status: number | null;
  redirects: string[];
  excerpt: string | null;
  /** All content came from public addresses, or names them. */
  public: boolean;
  bare_message?: string;
}

/** Visible part of a result: all, only content of public addresses, or none. */
export type ResultVisibility = 'all' | 'public' | 'none';

/** A probe runs inside the network, its reader may be outside. */
export function toVisibleResult(seen: ProbeResult, sight: ResultVisibility): ProbeResult {
  if (sight === 'all' || (sight === 'public' && seen.public)) return seen;
  if (seen.public) return { ...seen, excerpt: null };
  const certificate = seen.certificate && { ...seen.certificate, subject: '', issuer: '' };
  return { ...seen, excerpt: null, message: seen.bare_message ?? seen.message, redirects: [], certificate };
}

/** A response is the failure. */
export function invertResult(seen: ProbeResult): ProbeResult {
  if (seen.unsupported === true || seen.blocked === true) return seen;
  const says = (text: string): string =>
    seen.ok ? `Unexpected response: ${text}` : `No response, as expected: ${text}`;
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

export const getDaysLeft = ({ valid_until }: ServerCertificate, now: number): number =>
  Math.floor((Date.parse(valid_until) - now) / DAY_MS);

export function formatExpiry(days: number): string {
  // Rounded down: an hour after expiry it is -1.
  if (days === -1) return 'expired less than a day ago';
  if (days < 0) return `expired ${days === -2 ? 'a day' : `${-days - 1} days`} ago`;
  return days === 0 ? 'expires within a day' : `expires in ${days === 1 ? 'a day' : `${days} days`}`;
}

/** @param failures including this one; 0 for success */
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
  const isJudged = left !== null && !('insecure' in probe && probe.insecure);
  const message = failures === 0 || counts ? seen.message : `${seen.message} (try ${failures} of ${tries})`;
  return {
    source,
    status: failures === 0 ? 'ok' : counts ? 'error' : 'warning',
    interval: probe.interval_seconds,
    message,
    checks: {
      answer: { ok: seen.ok, message: seen.message },
      ...(isJudged && { certificate: { ok: left >= warned, message: `Certificate ${formatExpiry(left)}` } }),
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
