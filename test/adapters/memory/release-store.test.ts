import { MemoryReleaseStore } from '../../../adapters/memory/release-store.js';
import { releaseStoreContract } from '../../../testing/contracts/release-store.js';

releaseStoreContract('memory', async () => new MemoryReleaseStore());
