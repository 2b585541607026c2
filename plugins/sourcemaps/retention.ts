import { inject, injectable, PORT, type Clock } from '../../kernel/contract.js';
import { Bundles } from './bundles.js';
import type { SourceMapConfig } from './config.js';
import { Inbox } from './inbox.js';
import { CONFIG } from './uploads.js';

const DAY_MS = 86_400_000;

@injectable()
export class Retention {
  constructor(
    @inject(Bundles) private readonly bundles: Bundles,
    @inject(Inbox) private readonly inbox: Inbox,
    @inject(CONFIG) private readonly config: SourceMapConfig,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    await this.bundles.finish(signal);
    const before = new Date(this.clock.now() - this.config.sourcemap_days * DAY_MS).toISOString();
    await this.bundles.expire(before, signal);
    await this.inbox.clean(signal);
  }
}
