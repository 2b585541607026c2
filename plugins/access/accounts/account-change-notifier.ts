import { PORT, added, inject, injectable, type Logger } from '../../../kernel/contract.js';
import { ACCOUNT_WATCHERS, type AccountWatcher } from '../../../ports/domain/access.js';

/** Longest delay of a response to an administrator. */
const NOTIFY_TIMEOUT_MS = 5_000;

@injectable()
export class AccountChangeNotifier {
  constructor(
    @inject(added(ACCOUNT_WATCHERS)) private readonly watchers: () => readonly AccountWatcher[],
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /**
   * Call after the commit. Never throws: the change is made, and a watcher that missed it compares
   * the mark.
   */
  async changed(): Promise<void> {
    await Promise.all(this.watchers().map((watcher) => this.#notifyWatcher(watcher)));
  }

  async #notifyWatcher(watcher: AccountWatcher): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), NOTIFY_TIMEOUT_MS)));
    const told = this.#notifySafely(watcher);
    if ((await Promise.race([told, late])) === 'late')
      this.log.warn(
        { ms: NOTIFY_TIMEOUT_MS },
        'a watcher of accounts takes long; the answer does not wait for it any more',
      );
    clearTimeout(timer);
  }

  async #notifySafely(watcher: AccountWatcher): Promise<'told'> {
    try {
      await watcher.changed();
    } catch (error) {
      this.log.error({ err: error }, 'a watcher of accounts failed');
    }
    return 'told';
  }
}
