import { token, type Clock, type Collection, type Logger, type PluginContext } from '../../kernel/contract/index.js';
import { Outbox } from '../../lib/outbox.js';
import type { ActivationDoc, LicenseDoc, LicensingOutboxEntry, WithOutbox } from './model/documents.js';

interface OutboxDeps {
  clock: Clock;
  log: Logger;
  emit: PluginContext['emit'];
}

export class LicensingOutbox<T extends WithOutbox> {
  readonly #outbox: Outbox<T, LicensingOutboxEntry>;

  constructor(rows: Collection<T>, { clock, log, emit }: OutboxDeps) {
    this.#outbox = new Outbox({
      rows,
      deliver: ({ product }, { id, event, at, data }) =>
        emit(event, data, { id, timestamp: at, project_slug: product }),
      inOrder: true,
      now: () => clock.now(),
      onFailed: (err, license) =>
        log.error({ err, license }, 'the events of a license could not be sent; a job will retry'),
    });
  }

  /**
   * Sends in the background.
   * @param doc as it was written
   */
  send(doc: T): void {
    if (doc.outbox.length > 0) void this.#outbox.sendAll(doc.id);
  }

  async reconcile(): Promise<void> {
    await this.#outbox.reconcile();
  }

  drain(): Promise<void> {
    return this.#outbox.drain();
  }
}

export const LICENSE_OUTBOX = token<LicensingOutbox<LicenseDoc>>('licensing.license_outbox');
export const ACTIVATION_OUTBOX = token<LicensingOutbox<ActivationDoc>>('licensing.activation_outbox');
