import { MemoryStore } from '../../../adapters/memory/store.js';
import { storeContract } from '../../kit/contracts/store.js';

storeContract('memory', {
  async open() {
    const store = new MemoryStore();
    await store.connect();
    return store;
  },
});
