import { SystemClock } from '../../adapters/node/clock.js';
import { PinoLogger } from '../../adapters/node/logger.js';
import { StoreFaultLogger } from '../../adapters/node/store-fault-logger.js';
import { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import type { Logger } from '../../ports/logger.js';
import type { Setup } from './setup.js';

export interface LoggingServices {
  clock: SystemClock;
  lines: PinoLogger;
  log: Logger;
  faults: RepeatedLineLimiter;
}

export function makeLogging({ mode, config, given }: Setup): LoggingServices {
  const lines = PinoLogger.create({
    level: mode === 'command' ? 'silent' : config.log.level,
    ...(given.logTo === 'stderr' && { destination: 'stderr' }),
  });
  const clock = new SystemClock();
  const faults = new RepeatedLineLimiter(() => clock.monotonic());
  return { clock, lines, log: new StoreFaultLogger(lines, faults), faults };
}

export function logSetup({ mode, configuration, keys }: Setup, log: Logger): void {
  if (mode === 'serve') {
    for (const { name, meant } of configuration.misspelt) log.warn({}, `${name} has no effect; did you mean ${meant}?`);
    for (const name of configuration.unknown) log.warn({}, `${name} is not a setting of the service`);
  }
  if (keys.created.length > 0) log.info({ created: keys.created }, 'created keys in the data directory');
}
