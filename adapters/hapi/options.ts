import type { Clock } from '../../ports/clock.js';
import type { HttpLimits } from '../../ports/http/limits.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { RequestLog } from './transport/open-requests.js';
import type { MinimumRate } from './body/paced-body.js';

export interface HapiServerOptions {
  host: string;
  port: number;
  /** For example `https://aos.example.org`; decides about `Secure` cookies and HSTS. */
  base_url: string;
  /** Their `X-Forwarded-For` is trusted. */
  trusted_proxies: readonly string[];
  /** An untrusted peer sent `X-Forwarded-For`. */
  unlistedProxy?: (address: string) => void;
  limits: HttpLimits;
  /** Number of processes that share the limits. Default 1. */
  sharers?: () => number;
  /** Includes exception texts in responses and reloads views on every request. */
  debug: boolean;
  version: string;
  /** Shown with every time. */
  timezone: string;
  /** Folder with `layouts/`, `partials/`, `views/error.hbs` and `assets/` (web/README.md). */
  webDir: string;
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  log: Logger;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
  /** Absent: requests are not logged. */
  requestLog?: RequestLog;
  /** Before 503 `overloaded`. Default 1,000. */
  maxInFlight?: number;
  /** Default 128 MiB, or more where larger bodies are allowed. */
  maxBodyBytesInFlight?: number;
  /** Default 60,000. */
  bodyTimeoutMs?: number;
  /** Concurrent files, uploads and event streams before 503 `overloaded`. */
  maxStreams?: number;
  /** Per account, token or address. Default 10. */
  maxEventStreams?: number;
  /** Default 128 MiB. */
  maxUnsentBytes?: number;
  /** A download or long response is cut after this time without progress. */
  stallMs?: number;
  uploadRate?: MinimumRate;
  /** A slower panel or navigation badge is omitted. Default 2,000. */
  panelTimeoutMs?: number;
}
