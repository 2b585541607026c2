import { inject, injectable, type Logger } from '../../../kernel/contract/index.js';
import { SECOND_MS } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import type { LicenseChangeListener } from '../../../ports/domain/licensing.js';

/** Maximum time a response waits for the access files; the next check writes what is missing. */
const NOTIFY_TIMEOUT_MS = 5 * SECOND_MS;

@injectable()
export class LicenseChangeNotifier {
  constructor(
    @inject(DEPS.watchers) private readonly watchers: () => readonly LicenseChangeListener[],
    @inject(DEPS.log) private readonly log: Logger,
  ) {}

  /**
   * Never rejects.
   * @param product null for several
   */
  async notify(product: string | null): Promise<void> {
    await Promise.all(this.watchers().map((watcher) => this.#notifyListener(product, () => watcher.onChange(product))));
  }

  async #notifyListener(product: string | null, changed: () => Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), NOTIFY_TIMEOUT_MS);
    });
    try {
      if ((await Promise.race([changed(), late])) === 'late')
        this.log.warn({ product }, 'the access files have not been written yet; the response no longer waits for them');
    } catch (err) {
      this.log.error({ err, product }, 'a license change did not reach the access files; the next check will apply it');
    } finally {
      clearTimeout(timer);
    }
  }
}
