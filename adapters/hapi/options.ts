/** Options that the composition root gives to the web server. */
import type { Clock } from '../../ports/clock.js';
import type { HttpLimits } from '../../ports/http/limits.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { RequestLog } from './transport/open-requests.js';
import type { LeastRate } from './body/paced-body.js';

export interface HapiServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** `https://aos.example.org`; decides about `Secure` cookies and HSTS. Empty: the listen address. */
  base_url: string;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is believed. */
  trusted_proxies: readonly string[];
  /** Called with the address of a peer that sends `X-Forwarded-For` and is not trusted. */
  unlistedProxy?: (address: string) => void;
  limits: HttpLimits;
  /** How many processes share the limits. Absent: only this one. */
  sharers?: () => number;
  /** Puts exception texts into answers, and reads views again at every request. */
  debug: boolean;
  version: string;
  /** IANA name; shown with every time. */
  timezone: string;
  /** Folder with `layouts/`, `partials/`, `views/error.hbs` and `assets/` (web/README.md). */
  webDir: string;
  /** Handlebars helpers by name (`web/helpers.ts`). */
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  log: Logger;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
  /** Absent: no request is logged. */
  requestLog?: RequestLog;
  /** Requests at work at once, before 503 `overloaded`. Default 1,000. */
  maxInFlight?: number;
  /** Bytes of bodies held at once, all requests together. Default 128 MiB, or more where larger bodies are allowed. */
  maxBodyBytesInFlight?: number;
  /** Time in which a body must be complete. Default 60,000. */
  bodyTimeoutMs?: number;
  /** Files, uploads and event streams at once, before 503 `overloaded`. Default 1,000. */
  maxStreams?: number;
  /** Event streams of one account, token or address. Default 10. */
  maxEventStreams?: number;
  /** Bytes of long answers held for readers that have not taken them, all connections together. Default 128 MiB. */
  maxUnsentBytes?: number;
  /** A download, or a long answer, is cut when nothing moved for this time. Default 60,000. */
  stallMs?: number;
  /** Least speed of an upload while we wait for it. Default 160 KiB in every 20 s. */
  uploadRate?: LeastRate;
  /** A panel or a navigation badge that takes longer is left out. Default 2,000. */
  panelTimeoutMs?: number;
}
