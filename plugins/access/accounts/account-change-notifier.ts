/** Tells those who keep something made from accounts (the release store's access files) that one has changed. */
import { PORT, added, inject, injectable, type Logger } from '../../../kernel/contract.js';
import { ACCOUNT_WATCHERS, type AccountWatcher } from '../../../ports/domain/access.js';

/** The answer to an administrator waits no longer than this. */
const NOTIFY_TIMEOUT_MS = 5_000;

@injectable()
export class AccountChangeNotifier {
  constructor(
    @inject(added(ACCOUNT_WATCHERS)) private readonly watchers: () => readonly AccountWatcher[],
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /** After the commit. Never throws: the change is made, and a watcher that was late compares the mark. */
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
