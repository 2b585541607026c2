import { readUnlistedProxies, type UnlistedProxyRecorder } from '../../adapters/node/unlisted-proxies.js';
import type { PinoLogger } from '../../adapters/node/logger.js';
import type { ResolvedConfig } from '../load.js';
import type { AppSettings } from '../../kernel/contract/index.js';
import type { Clock } from '../../ports/clock.js';
import type { UnlistedProxy } from '../../ports/domain/system.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';

export interface WebServerParts {
  app: AppSettings;
  clock: Clock;
  ids: Ids;
  log: Logger;
  lines: PinoLogger;
  metrics: Metrics;
  unlisted: UnlistedProxyRecorder;
  peers: () => number;
}

export async function createWebServer(
  config: ResolvedConfig,
  webDir: string,
  parts: WebServerParts,
): Promise<HttpServer> {
  const { app, clock, ids, log, lines, metrics, unlisted, peers } = parts;
  const { host, port, base_url, trusted_proxies } = config.server;
  const { HapiServer } = await import('../../adapters/hapi/server.js');
  const { createHelpers: helpers } = await import('../../web/helpers/index.js');
  return new HapiServer({
    host,
    port,
    base_url: base_url ?? '',
    trusted_proxies,
    unlistedProxy: unlisted.record,
    limits: config.limits,
    sharers: peers,
    debug: config.app.debug,
    version: app.version,
    timezone: app.timezone,
    webDir,
    helpers: helpers({ timezone: app.timezone, now: () => clock.now() }),
    log,
    clock,
    ids,
    metrics,
    requestLog: { log: lines.withWarnings(), all: config.log.level === 'debug', slowMs: config.log.slow_ms },
  });
}

export async function listUnlistedProxies(
  dataDir: string,
  trusted: readonly string[],
): Promise<readonly UnlistedProxy[]> {
  const { createAddressResolver: addressReader } = await import('../../adapters/hapi/wire/client-address.js');
  const read = addressReader(trusted);
  const seen = await readUnlistedProxies(dataDir, Date.now());
  // For a trusted proxy the header is read.
  return seen.filter(({ address }) => read(address, '192.0.2.1') === address);
}
