import { MemoryReleaseStore } from '../../../adapters/memory/release-store.js';
import { releaseStoreContract } from '../../kit/contracts/release-store.js';

releaseStoreContract('memory', async () => new MemoryReleaseStore());
