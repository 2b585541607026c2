/**
 * Limits repeated log lines while the store is unavailable: background tasks each report the same
 * fault, which is logged once per minute and message. Lines of requests are always logged, because
 * users look for their id.
 */
import type { Logger } from '../../ports/logger.js';
import type { RepeatedLines } from '../../lib/text/repeated-lines.js';
import { isStoreFault } from '../../lib/store-fault.js';

export class StoreFaultLog implements Logger {
  constructor(
    private readonly log: Logger,
    private readonly faults: RepeatedLines,
  ) {}

  debug(data: object, message: string): void {
    this.log.debug(data, message);
  }

  info(data: object, message: string): void {
    this.log.info(data, message);
  }

  warn(data: object, message: string): void {
    const told = this.#told(data, message);
    if (told !== null) this.log.warn(told, message);
  }

  error(data: object, message: string): void {
    const told = this.#told(data, message);
    if (told !== null) this.log.error(told, message);
  }

  child(bindings: object): Logger {
    return new StoreFaultLog(this.log.child(bindings), this.faults);
  }

  #told(data: object, message: string): object | null {
    if (!('err' in data) || 'request_id' in data || !isStoreFault(data.err)) return data;
    const more = this.faults.next(message);
    return more && { ...data, ...more };
  }
}
