/**
 * Limits repeated log lines while the store is unavailable: background tasks each report the same
 * fault, which is logged once per minute and message. Lines of requests are always logged, because
 * users look for their id.
 */
import type { Logger } from '../../ports/logger.js';
import type { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import { isStoreFault } from '../../lib/store-fault.js';

export class StoreFaultLogger implements Logger {
  constructor(
    private readonly log: Logger,
    private readonly faults: RepeatedLineLimiter,
  ) {}

  debug(data: object, message: string): void {
    this.log.debug(data, message);
  }

  info(data: object, message: string): void {
    this.log.info(data, message);
  }

  warn(data: object, message: string): void {
    const deduplicated = this.#deduplicate(data, message);
    if (deduplicated !== null) this.log.warn(deduplicated, message);
  }

  error(data: object, message: string): void {
    const deduplicated = this.#deduplicate(data, message);
    if (deduplicated !== null) this.log.error(deduplicated, message);
  }

  child(bindings: object): Logger {
    return new StoreFaultLogger(this.log.child(bindings), this.faults);
  }

  #deduplicate(data: object, message: string): object | null {
    if (!('err' in data) || 'request_id' in data || !isStoreFault(data.err)) return data;
    const more = this.faults.admit(message);
    return more && { ...data, ...more };
  }
}
