/**
 * Logins, rejections and provisioning (contract 80, audit log). To protect the disk, repeats from
 * one network within a minute are counted: the first is written immediately, the count at the end.
 * Distinct entries per minute are limited too.
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import type { Principal, RequestRejection } from '../../../ports/http/index.js';
import { AuditService } from './audit.js';
import { BackgroundTasks } from '../background-tasks.js';

export type SecurityEvent =
  | 'login.succeeded'
  | 'login.failed'
  | 'login.locked'
  | 'login.refused'
  | 'credential.refused'
  | 'scope.refused'
  | 'csrf.refused';

export interface SecurityIncident {
  event: SecurityEvent;
  /** Never form input. */
  target: string;
  address: string;
  request_id: string | null;
  by?: Principal;
}

interface RepeatCount {
  seen: SecurityIncident;
  /** Repeats after the written entry. */
  more: number;
}

export const SECURITY_LOG_WINDOW_MS = 60_000;
export const MAX_ENTRIES_PER_WINDOW = 50;

@injectable()
export class SecurityLog {
  readonly #window = new Map<string, RepeatCount>();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    @inject(AuditService) private readonly audit: AuditService,
    @inject(BackgroundTasks) private readonly background: BackgroundTasks,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  record(seen: SecurityIncident): void {
    const key = `${seen.event} ${getClientNetwork(seen.address)} ${seen.target}`;
    const known = this.#window.get(key);
    if (known !== undefined) {
      known.more += 1;
      return;
    }
    if (this.#window.size >= MAX_ENTRIES_PER_WINDOW) {
      const rest = this.#window.get(seen.event) ?? {
        seen: { ...seen, target: 'several', address: 'several' },
        more: 0,
      };
      rest.more += 1;
      this.#window.set(seen.event, rest);
      return;
    }
    this.#window.set(key, { seen, more: 0 });
    this.#timer ??= setTimeout(() => this.flush(), SECURITY_LOG_WINDOW_MS).unref();
    this.#write(seen, 1);
  }

  recordRejection({ what, path, address, request_id, principal }: RequestRejection): void {
    this.record({ event: `${what}.refused`, target: path, address, request_id, by: principal });
  }

  /** Writes at the end of the minute and before the process ends. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const counted = [...this.#window.values()];
    this.#window.clear();
    for (const { seen, more } of counted) if (more > 0) this.#write(seen, more);
  }

  #write({ event, target, address, request_id, by = { kind: 'public' } }: SecurityIncident, count: number): void {
    const line = { security: event, target, address, request_id, count, at: this.clock.iso() };
    if (event === 'login.succeeded') this.log.info(line, 'security');
    else this.log.warn(line, 'security');
    this.background.run('the security log', () => this.audit.record(by, event, target, { address, request_id, count }));
  }
}
