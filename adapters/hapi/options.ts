import type { Clock } from '../../ports/clock.js';
import type { HttpLimits } from '../../ports/http/limits.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { RequestLog } from './transport/open-requests.js';
import type { MinimumRate } from './body/paced-body.js';

export interface HapiServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /**
   * For example `https://aos.example.org`; decides about `Secure` cookies and HSTS. Empty: the
   * listen address.
   */
  base_url: string;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted. */
  trusted_proxies: readonly string[];
  /** Called with the address of an untrusted peer that sends `X-Forwarded-For`. */
  unlistedProxy?: (address: string) => void;
  limits: HttpLimits;
  /** Number of processes that share the limits. Default 1. */
  sharers?: () => number;
  /** Includes exception texts in responses and reloads views on every request. */
  debug: boolean;
  version: string;
  /** IANA name, shown with every time. */
  timezone: string;
  /** Folder with `layouts/`, `partials/`, `views/error.hbs` and `assets/` (web/README.md). */
  webDir: string;
  /** Handlebars helpers by name (`web/helpers.ts`). */
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  log: Logger;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
  /** Absent: requests are not logged. */
  requestLog?: RequestLog;
  /** Concurrent requests before 503 `overloaded`. Default 1,000. */
  maxInFlight?: number;
  /**
   * Bytes of all bodies held in memory at the same time. Default 128 MiB, or more where larger
   * bodies are allowed.
   */
  maxBodyBytesInFlight?: number;
  /** Maximum time for receiving a body. Default 60,000. */
  bodyTimeoutMs?: number;
  /** Concurrent files, uploads and event streams before 503 `overloaded`. Default 1,000. */
  maxStreams?: number;
  /** Event streams per account, token or address. Default 10. */
  maxEventStreams?: number;
  /** Bytes of long responses held for slow readers, all connections together. Default 128 MiB. */
  maxUnsentBytes?: number;
  /** A download or long response is cut after this time without progress. Default 60,000. */
  stallMs?: number;
  /** Minimum upload rate while the service waits for the sender. Default 160 KiB in every 20 s. */
  uploadRate?: MinimumRate;
  /** A slower panel or navigation badge is omitted. Default 2,000. */
  panelTimeoutMs?: number;
}
