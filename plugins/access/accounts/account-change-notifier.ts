import { PORT, added, inject, injectable, type Logger } from '../../../kernel/contract/index.js';
import { ACCOUNT_CHANGE_LISTENERS, type AccountChangeListener } from '../../../ports/domain/access.js';

/** Of a response to an administrator. */
const NOTIFY_TIMEOUT_MS = 5_000;

@injectable()
export class AccountChangeNotifier {
  constructor(
    @inject(added(ACCOUNT_CHANGE_LISTENERS)) private readonly watchers: () => readonly AccountChangeListener[],
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /** Call after the commit. Never throws: a watcher that missed it compares the mark. */
  async notifyChanged(): Promise<void> {
    await Promise.all(this.watchers().map((watcher) => this.#notifyWatcher(watcher)));
  }

  async #notifyWatcher(watcher: AccountChangeListener): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), NOTIFY_TIMEOUT_MS)));
    const notification = this.#notifySafely(watcher);
    if ((await Promise.race([notification, late])) === 'late')
      this.log.warn({ ms: NOTIFY_TIMEOUT_MS }, 'an account listener is slow; the response no longer waits for it');
    clearTimeout(timer);
  }

  async #notifySafely(watcher: AccountChangeListener): Promise<'told'> {
    try {
      await watcher.onChange();
    } catch (error) {
      this.log.error({ err: error }, 'an account listener failed');
    }
    return 'told';
  }
}
