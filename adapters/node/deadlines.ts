import { OutboundError } from '../../ports/outbound.js';

export class Deadlines {
  private readonly connect: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;
  private fault: OutboundError | null = null;
  private readonly listeners: ((fault: OutboundError) => void)[] = [];

  private readonly endsAt: number;

  constructor(connectMs: number, totalMs: number) {
    this.endsAt = performance.now() + totalMs;
    this.connect = setTimeout(() => this.expire(`no connection within ${connectMs} ms`), connectMs);
    this.total = setTimeout(() => this.expire(`no complete response within ${totalMs} ms`), totalMs);
  }

  private expire(message: string): void {
    this.fault ??= new OutboundError('timeout', message);
    for (const listener of this.listeners) listener(this.fault);
  }

  /** Calls `listener` with the timeout that expires. */
  onFault(listener: (fault: OutboundError) => void): void {
    if (this.fault) listener(this.fault);
    else this.listeners.push(listener);
  }

  /** @throws OutboundError when a timeout expires first */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onFault(reject);
      work.then(resolve, reject);
    });
  }

  remainingMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  markConnected(): void {
    clearTimeout(this.connect);
  }

  stop(): void {
    clearTimeout(this.connect);
    clearTimeout(this.total);
  }
}
