import { inject, injectable, PORT, type Clock } from '../../kernel/contract/index.js';
import { BundleService } from './bundles.js';
import type { SourceMapConfig } from './config.js';
import { ChunkInbox } from './chunk-inbox.js';
import { SOURCE_MAP_CONFIG } from './uploads.js';

const DAY_MS = 86_400_000;

@injectable()
export class MapRetentionJob {
  constructor(
    @inject(BundleService) private readonly bundles: BundleService,
    @inject(ChunkInbox) private readonly inbox: ChunkInbox,
    @inject(SOURCE_MAP_CONFIG) private readonly config: SourceMapConfig,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    await this.bundles.deleteIncomplete(signal);
    const before = new Date(this.clock.now() - this.config.sourcemap_days * DAY_MS).toISOString();
    await this.bundles.deleteUnused(before, signal);
    await this.inbox.deleteExpired(signal);
  }
}
